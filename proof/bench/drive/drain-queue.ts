import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
} from "@aws-sdk/client-sqs";
import { billedRequests } from "../measure/billed-requests.ts";
import { queueEvent, readBatchAnswer } from "./invocations.ts";
import type { RunningImplementation } from "./running-implementation.ts";

/** As the stack's event sources are set. */
const batchSize = 10;

/** Invokes a function with batches, and gives what it answered; undefined where it failed. */
export type Work = (event: object) => Promise<unknown>;

/** In seconds; undefined: as long as the function itself, or the queue, hides it. */
export type Hidden = {
  readonly afterReport: number | undefined;
  /** The whole batch, where the function was killed or failed. */
  readonly afterFailure: number | undefined;
};

/**
 * Hands one batch of a queue to a function, as an event source does; what fails comes again.
 * @param hidden how long what failed stays hidden
 * @returns how many requests SQS bills for it; 0 where there was no message
 */
export async function drainBatch(
  { sqs }: RunningImplementation,
  QueueUrl: string,
  work: Work,
  hidden: Hidden,
): Promise<number> {
  const receive = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: batchSize,
    MessageSystemAttributeNames: ["All"],
    MessageAttributeNames: ["All"],
  });
  const { Messages: messages = [] } = await sqs.send(receive);
  if (messages.length === 0) return 0;
  const answer = await work(queueEvent(messages, QueueUrl));
  const failed = answer === undefined ? undefined : readBatchAnswer(answer).failed;
  const isDone = ({ MessageId = "" }: Message) => failed !== undefined && !failed.includes(MessageId);
  const done = messages.filter(isDone);
  const again = messages.filter((message) => !isDone(message));
  if (done.length > 0) {
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries: done.map(entryOf) }));
  }
  const seconds = answer === undefined ? hidden.afterFailure : hidden.afterReport;
  if (again.length > 0 && seconds !== undefined) {
    const Entries = again.map((message, index) => ({
      ...entryOf(message, index),
      VisibilityTimeout: seconds,
    }));
    await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
  }
  const received = billedRequests(messages.map(({ Body = "" }) => Body));
  return received + Number(done.length > 0);
}

function entryOf({ ReceiptHandle }: Message, index: number) {
  return { Id: String(index), ReceiptHandle };
}

const depths = [
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesNotVisible",
  "ApproximateNumberOfMessagesDelayed",
] as const;

/** How many messages a queue holds, hidden and delayed ones too. */
export async function depthOf({ sqs }: RunningImplementation, QueueUrl: string): Promise<number> {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...depths] });
  const { Attributes = {} } = await sqs.send(command);
  return depths.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
}
