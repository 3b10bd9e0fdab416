import { randomUUID } from "node:crypto";
import { ChangeMessageVisibilityCommand, GetQueueAttributesCommand, type Message } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { type Outgoing, sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { deduplicationOf, type FetchTask, writeTask } from "../../../domain/fetch/task.ts";
import type { TestSystem } from "../../support/engines.ts";
import { context, type SqsHandler, settle, sqsEvent } from "./lambda.ts";

/** Message attributes that a test sets instead of the engine. */
export type Seen = { readonly receives?: number; readonly sentAt?: Date; readonly firstReceivedAt?: Date };

/** View of the event source mapping: bodies of the messages that stay in the queue, and all ids. */
export type Delivered = { readonly left: readonly string[]; readonly messageIds: readonly string[] };

/** A queue of tasks with its dead letters, and the event source mapping that delivers them. */
export class TaskDeliveries {
  readonly queue: { readonly url: string; readonly deadLetterUrl: string };
  readonly #system: TestSystem;
  readonly #isFifo: boolean;
  #inFlight: readonly string[] = [];

  static async create(system: TestSystem, attributes: Record<string, string> = {}): Promise<TaskDeliveries> {
    const [url, deadLetterUrl] = await Promise.all([
      system.createQueue(attributes),
      system.createQueue(attributes),
    ]);
    return new TaskDeliveries(system, { url, deadLetterUrl }, attributes.FifoQueue === "true");
  }

  private constructor(system: TestSystem, queue: TaskDeliveries["queue"], isFifo: boolean) {
    this.#system = system;
    this.queue = queue;
    this.#isFifo = isFifo;
  }

  /**
   * Sends tasks, each in its own message group: unlike AWS, the engine returns one message of a group per
   * receive. The function groups tasks by their content.
   */
  async send(tasks: readonly (FetchTask | string)[], more: Pick<Outgoing, "returns"> = {}): Promise<void> {
    const messages = tasks.map((task) => {
      const order = {
        group: randomUUID(),
        deduplication: typeof task === "string" ? randomUUID() : deduplicationOf(task),
      };
      return {
        body: typeof task === "string" ? task : writeTask(task),
        ...more,
        ...(this.#isFifo ? order : {}),
      };
    });
    const failed = (await sqsSender(this.#system.sqs)(this.queue.url, messages)).find(
      (each) => each !== undefined,
    );
    if (failed !== undefined) throw new Error(failed.reason);
  }

  /** Receives a batch, invokes, and deletes what is not reported. */
  async deliver(handler: SqsHandler, seen: Seen = {}): Promise<Delivered> {
    const messages = await this.#system.receive(this.queue.url);
    const Records = messages.map((message) => this.#recordOf(message, seen));
    const answer = await handler({ Records }, context);
    const left = await settle(this.#system, this.queue.url, messages, answer);
    this.#inFlight = left.map(({ ReceiptHandle = "" }) => ReceiptHandle);
    return {
      left: left.map(({ Body = "" }) => Body),
      messageIds: messages.map(({ MessageId = "" }) => MessageId),
    };
  }

  /** Makes the remaining messages of the last batch visible at once. */
  async show(): Promise<void> {
    for (const ReceiptHandle of this.#inFlight) {
      const QueueUrl = this.queue.url;
      await this.#system.sqs.send(
        new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }),
      );
    }
    this.#inFlight = [];
  }

  /** Number of messages: visible, invisible and delayed. */
  async depth() {
    const { Attributes = {} } = await this.#system.sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: this.queue.url, AttributeNames: ["All"] }),
    );
    return {
      visible: Number(Attributes.ApproximateNumberOfMessages),
      hidden: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
      delayed: Number(Attributes.ApproximateNumberOfMessagesDelayed),
    };
  }

  async deadLetters() {
    return (await this.#system.drain(this.queue.deadLetterUrl)).map(({ Body, MessageAttributes = {} }) => ({
      body: Body,
      reason: MessageAttributes.reason?.StringValue,
      ...(MessageAttributes.returns && { returns: MessageAttributes.returns.StringValue }),
    }));
  }

  #recordOf(message: Message, { receives, sentAt, firstReceivedAt }: Seen): SQSRecord {
    const [record] = sqsEvent([message]).Records;
    if (record === undefined) throw new Error("no record");
    const { Attributes = {} } = message;
    const millis = (date: Date | undefined, name: "SentTimestamp" | "ApproximateFirstReceiveTimestamp") =>
      String(date?.getTime() ?? Attributes[name]);
    return {
      ...record,
      eventSourceARN: `arn:aws:sqs:eu-central-1:000000000000:${this.queue.url.split("/").at(-1)}`,
      attributes: {
        ...record.attributes,
        ApproximateReceiveCount: String(receives ?? Attributes.ApproximateReceiveCount),
        SentTimestamp: millis(sentAt, "SentTimestamp"),
        ApproximateFirstReceiveTimestamp: millis(firstReceivedAt, "ApproximateFirstReceiveTimestamp"),
        ...(Attributes.MessageGroupId && { MessageGroupId: Attributes.MessageGroupId }),
      },
    };
  }
}
