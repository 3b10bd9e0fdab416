import type { SQSRecord } from "aws-lambda";
import type { Outgoing } from "../../adapters/sqs/sqs-sender.ts";
import { maxReceiveCount } from "../../domain/fetch/task.ts";
import { sqsEvent } from "../support/invocations.ts";

/** Times are milliseconds since 1970 by SQS's clock. */
export type Message = Outgoing & {
  readonly id: string;
  readonly sentAt: number;
  visibleAt: number;
  receives: number;
  firstReceivedAt: number;
};

/** Purpose of a queue: tasks of documents are in a FIFO queue, and tasks wait by being received again. */
export type Purpose = "events" | "tasks" | "ordered tasks";

const maxEventReceives = 5;
const deduplicationInMillis = 300_000;
const retentionInMillis = 14 * 86_400_000;

/** An SQS queue with its dead letters: at least once, in no order, or one batch of a group at a time. */
export class Queue {
  messages: Message[] = [];
  deadLetters: Message[] = [];
  readonly #name: string;
  readonly #purpose: Purpose;
  readonly #taken = new Map<string, number>();
  #sent = 0;

  constructor(name: string, purpose: Purpose) {
    this.#name = name;
    this.#purpose = purpose;
  }

  send(outgoing: Outgoing, now: number): void {
    if (this.#isFifo && this.#isTaken(outgoing, now)) return;
    this.messages.push(this.#messageOf(outgoing, now));
  }

  reject(outgoing: Outgoing, now: number): void {
    this.deadLetters.push(this.#messageOf(outgoing, now));
  }

  /**
   * Messages that can be received; for a FIFO queue none of a group with an invisible message.
   * @throws if one was kept too long
   */
  visible(now: number): readonly Message[] {
    if (this.messages.some(({ sentAt }) => now - sentAt >= retentionInMillis)) {
      throw new Error(`SQS drops a message of ${this.#name}`);
    }
    if (!this.#isFifo) return this.messages.filter(({ visibleAt }) => visibleAt <= now);
    const hidden = new Set(
      this.messages.filter(({ visibleAt }) => visibleAt > now).map(({ group }) => group),
    );
    return this.messages.filter(({ group }) => !hidden.has(group));
  }

  /**
   * Receives messages, which become invisible for a while; moves those received too often to the dead
   * letters.
   */
  receive(messages: readonly Message[], now: number, visibility: number): readonly Message[] {
    return messages.flatMap((message) => {
      message.receives += 1;
      message.visibleAt = now + visibility;
      if (message.receives === 1) message.firstReceivedAt = now;
      if (message.receives <= (this.#purpose === "events" ? maxEventReceives : maxReceiveCount))
        return [{ ...message }];
      this.#remove(message.id);
      this.deadLetters.push(message);
      return [];
    });
  }

  /** Deletes all but the failed messages. */
  complete(received: readonly Message[], failed: ReadonlySet<string>): void {
    for (const message of received) {
      if (!failed.has(message.id) && this.#isCurrent(receiptOf(message))) this.#remove(message.id);
    }
  }

  hide(receipt: string, until: number): void {
    if (!this.#isCurrent(receipt)) return;
    for (const message of this.messages) if (receipt.startsWith(`${message.id}/`)) message.visibleAt = until;
  }

  get #isFifo(): boolean {
    return this.#purpose === "ordered tasks";
  }

  /** SQS accepts a recently sent message again without delivering it. */
  #isTaken({ group, deduplication }: Outgoing, now: number): boolean {
    if (group === undefined || deduplication === undefined) throw new Error("a FIFO queue asks for both");
    const taken = this.#taken.get(deduplication);
    if (taken !== undefined && now - taken < deduplicationInMillis) return true;
    this.#taken.set(deduplication, now);
    return false;
  }

  /** A FIFO queue neither deletes nor hides by the receipt handle of an earlier receive. */
  #isCurrent(receipt: string): boolean {
    return !this.#isFifo || this.messages.some((message) => receiptOf(message) === receipt);
  }

  #messageOf(outgoing: Outgoing, now: number): Message {
    this.#sent += 1;
    const visibleAt = now + 1_000 * (outgoing.delayInSeconds ?? 0);
    const id = `${this.#name}-${this.#sent}`;
    return { ...outgoing, id, sentAt: now, visibleAt, receives: 0, firstReceivedAt: 0 };
  }

  #remove(id: string): void {
    this.messages = this.messages.filter((message) => message.id !== id);
  }
}

function receiptOf({ id, receives }: Message): string {
  return `${id}/${receives}`;
}

/** Records of messages, as Lambda delivers them. */
export function recordsOf(queue: string, messages: readonly Message[]): SQSRecord[] {
  return messages.flatMap((message) => {
    const { id, body, receives, sentAt, firstReceivedAt } = message;
    const Attributes = { SentTimestamp: String(sentAt) };
    const received = { MessageId: id, ReceiptHandle: receiptOf(message), Body: body, Attributes };
    const { Records } = sqsEvent([received], { receives, firstReceivedAt: new Date(firstReceivedAt) });
    return Records.map((record) => ({ ...record, eventSourceARN: `arn:aws:sqs:::${queue}` }));
  });
}
