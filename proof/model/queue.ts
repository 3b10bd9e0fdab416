import { randomUUID } from "node:crypto";
import type { SQSRecord } from "aws-lambda";
import type { Outgoing } from "../../adapters/sqs/sqs-sender.ts";
import { maxReceiveCount } from "../../domain/fetch/waiting.ts";
import { sqsEvent } from "../support/invocations.ts";

/** SQS moves a message to the dead letters when it was received so often; a task waits by being received again. */
export const maxReceiveCounts = { events: 5, tasks: maxReceiveCount };

export type Message = Outgoing & {
  readonly id: string;
  readonly sentAt: number;
  visibleAt: number;
  receives: number;
  firstReceivedAt?: number;
};

/** A queue of SQS with its dead letters: at least once, in no order. Times are seconds of the world. */
export class Queue {
  messages: Message[] = [];
  deadLetters: Message[] = [];
  readonly #maxReceives: number;

  constructor(of: keyof typeof maxReceiveCounts) {
    this.#maxReceives = maxReceiveCounts[of];
  }

  send(outgoing: Outgoing, now: number): void {
    this.messages.push({
      ...outgoing,
      id: randomUUID(),
      sentAt: now,
      visibleAt: now + (outgoing.delayInSeconds ?? 0),
      receives: 0,
    });
  }

  reject(outgoing: Outgoing, now: number): void {
    this.deadLetters.push({ ...outgoing, id: randomUUID(), sentAt: now, visibleAt: now, receives: 0 });
  }

  visible(now: number): readonly Message[] {
    return this.messages.filter(({ visibleAt }) => visibleAt <= now);
  }

  /** Hands messages out, hidden for a while; of those that were received too often it makes dead letters. */
  receive(messages: readonly Message[], now: number, visibility: number): readonly Message[] {
    return messages.filter((message) => {
      message.receives += 1;
      message.visibleAt = now + visibility;
      message.firstReceivedAt ??= now;
      if (message.receives <= this.#maxReceives) return true;
      this.#remove(message.id);
      this.deadLetters.push(message);
      return false;
    });
  }

  /** Those that have an id among the failures stay. */
  complete(messages: readonly Message[], failed: ReadonlySet<string>): void {
    for (const { id } of messages) if (!failed.has(id)) this.#remove(id);
  }

  hide(id: string, until: number): void {
    for (const message of this.messages) if (message.id === id) message.visibleAt = until;
  }

  /** Sends dead letters again. @returns how many */
  redrive(isChosen: (deadLetter: Message) => boolean, now: number): number {
    const chosen = this.deadLetters.filter(isChosen);
    this.deadLetters = this.deadLetters.filter((deadLetter) => !isChosen(deadLetter));
    for (const { body } of chosen) this.send({ body }, now);
    return chosen.length;
  }

  #remove(id: string): void {
    this.messages = this.messages.filter((message) => message.id !== id);
  }
}

/** A message as Lambda hands it over. */
export function recordsOf(message: Message, dateOf: (seconds: number) => Date): SQSRecord[] {
  const { id, body, receives, sentAt, firstReceivedAt = 0 } = message;
  const Attributes = { SentTimestamp: String(dateOf(sentAt).getTime()) };
  return sqsEvent([{ MessageId: id, ReceiptHandle: id, Body: body, Attributes }], {
    receives,
    firstReceivedAt: dateOf(firstReceivedAt),
  }).Records;
}
