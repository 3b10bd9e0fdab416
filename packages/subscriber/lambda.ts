import type { Read, Result } from "./reader.ts";

type SqsEvent = { readonly Records: readonly { readonly messageId: string; readonly body: string }[] };
type SqsBatchResponse = { readonly batchItemFailures: { readonly itemIdentifier: string }[] };

/**
 * A Lambda function's handler for batches of a queue: what failed stays on the queue, and nothing else does. A trap:
 * the event source needs `FunctionResponseTypes: ["ReportBatchItemFailures"]`, or what failed is deleted.
 * @param report is given each message that stays, and why
 */
export function lambdaHandler(
  read: Read,
  report: (messageId: string, result: Extract<Result, { settled: false }>) => void,
): (event: SqsEvent) => Promise<SqsBatchResponse> {
  return async ({ Records }) => {
    const results = await Promise.all(
      Records.map(async ({ messageId, body }) => ({ messageId, result: await read(body) })),
    );
    const batchItemFailures = results.flatMap(({ messageId, result }) => {
      if (result.settled) return [];
      report(messageId, result);
      return [{ itemIdentifier: messageId }];
    });
    return { batchItemFailures };
  };
}
