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

type Messages = Awaited<ReturnType<TestSystem["receive"]>>;

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
  const answer = await handler(sqsEvent(messages, receives), context);
  return (await settle(system, queueUrl, messages, answer)).map(({ Body = "" }) => Body);
}

/**
 * Deletes the messages that a handler does not report.
 * @returns the others
 */
export async function settle(
  system: TestSystem,
  queueUrl: string,
  messages: Messages,
  { batchItemFailures }: SQSBatchResponse,
): Promise<Messages> {
  const kept = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  for (const { MessageId = "", ReceiptHandle } of messages) {
    if (!kept.has(MessageId))
      await system.sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
  }
  return messages.filter(({ MessageId = "" }) => kept.has(MessageId));
}
