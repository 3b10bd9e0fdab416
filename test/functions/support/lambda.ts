import { DeleteMessageCommand } from "@aws-sdk/client-sqs";
import type {
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2,
  Context,
  SQSBatchResponse,
  SQSEvent,
} from "aws-lambda";
import { context, type Receives, sqsEvent } from "../../../proof/support/invocations.ts";
import type { TestSystem } from "../../support/engines.ts";

export {
  context,
  httpEvent,
  type Receives,
  type Request,
  sqsEvent,
} from "../../../proof/support/invocations.ts";
export { keptLog, type LogEntry } from "../../../proof/support/kept-log.ts";

export type HttpHandler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;
export type SqsHandler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/**
 * Acts as the event source mapping once: receives a batch, invokes, deletes what is not reported.
 * @returns the bodies of the messages that stay in the queue
 */
export async function deliver(
  system: TestSystem,
  queueUrl: string,
  handler: SqsHandler,
  receives: Receives = {},
): Promise<readonly string[]> {
  const messages = await system.receive(queueUrl);
  return settle(system, queueUrl, messages, await handler(sqsEvent(messages, receives), context));
}

/**
 * Deletes the messages that a handler does not report.
 * @returns the bodies of the others
 */
export async function settle(
  system: TestSystem,
  queueUrl: string,
  messages: Awaited<ReturnType<TestSystem["receive"]>>,
  { batchItemFailures }: SQSBatchResponse,
): Promise<readonly string[]> {
  const kept = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  for (const { MessageId = "", ReceiptHandle } of messages) {
    if (!kept.has(MessageId))
      await system.sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
  }
  return messages.filter(({ MessageId = "" }) => kept.has(MessageId)).map(({ Body = "" }) => Body);
}
