import type { Read, Result } from "./reader.ts";

type SqsEvent = { readonly Records: readonly { readonly messageId: string; readonly body: string }[] };
type SqsBatchResponse = { readonly batchItemFailures: { readonly itemIdentifier: string }[] };

/**
 * Creates a Lambda handler for batches of a queue: only failed messages stay on the queue. Set
 * `FunctionResponseTypes: ["ReportBatchItemFailures"]` on the event source, or Lambda deletes failed messages too.
 * @param report called with each message that stays, and why
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
