import { setTimeout as wait } from "node:timers/promises";
import type { Answer } from "../http-server.ts";
import { errorAnswer, jsonAnswer } from "./answer.ts";
import { asString, parseJsonObject } from "./operation.ts";

/** How many messages a queue may have in flight. */
export type InFlightLimit = {
  /** What a receive is answered in the place of messages; undefined: the queue may hand out more. */
  refusal(body: Buffer, count: () => Promise<number>): Promise<Answer | undefined>;
  onReceived(body: Buffer, answer: Answer): void;
};

/** Of standard and of FIFO queues. Source: SQS developer guide, "Amazon SQS standard queue quotas", "FIFO queue quotas". */
export const mostInFlight = 120_000;

/**
 * Counts what was received, and asks the engine only when that reaches the limit.
 * @param limit less than SQS's for tests
 */
export function createInFlightLimit(limit: number): InFlightLimit {
  const received = new Map<string, number>();
  return {
    refusal: async (body, count) => {
      const { QueueUrl, WaitTimeSeconds } = parseJsonObject(body.toString());
      const queue = asString(QueueUrl);
      if ((received.get(queue) ?? 0) < limit) return undefined;
      const inFlight = await count();
      received.set(queue, inFlight);
      if (inFlight < limit) return undefined;
      const isLongPoll = Number(WaitTimeSeconds ?? 0) > 0;
      // Long polling and FIFO queues are told nothing.
      if (isLongPoll) await wait(1_000);
      if (isLongPoll || queue.endsWith(".fifo")) return jsonAnswer(200, {});
      const message = `Too many messages in flight: ${inFlight}`;
      return errorAnswer("sqs", { status: 403, errorType: "OverLimit", message });
    },
    onReceived: (body, answer) => {
      const { Messages: messages } = parseJsonObject(answer.body.toString());
      const queue = asString(parseJsonObject(body.toString()).QueueUrl);
      if (Array.isArray(messages)) received.set(queue, (received.get(queue) ?? 0) + messages.length);
    },
  };
}
