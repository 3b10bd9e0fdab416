import type { IncomingMessage } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { Answer } from "../http-server.ts";
import { errorAnswer, jsonAnswer } from "./answer.ts";
import { asList, asObject, asString, type JsonObject, type Operation, parseJsonObject } from "./operation.ts";
import type { Fault } from "./types.ts";

export type InFlightLimit = ReturnType<typeof createInFlightLimit>;

/**
 * For standard and FIFO queues. Source: SQS developer guide, "Amazon SQS standard queue quotas", "FIFO queue
 * quotas".
 */
export const mostInFlight = 120_000;

/**
 * Counts received messages, and asks the engine only when the count reaches the limit.
 * @param limit lower than SQS's in tests
 */
export function createInFlightLimit(limit: number) {
  const received = new Map<string, number>();
  return {
    /** Returns the answer that replaces a receive at the limit; undefined below it. */
    refusal: async (body: Buffer, count: () => Promise<number>): Promise<Answer | undefined> => {
      const { QueueUrl, WaitTimeSeconds } = parseJsonObject(body.toString());
      const queue = asString(QueueUrl);
      if ((received.get(queue) ?? 0) < limit) return undefined;
      const inFlight = await count();
      received.set(queue, inFlight);
      if (inFlight < limit) return undefined;
      const isLongPoll = Number(WaitTimeSeconds ?? 0) > 0;
      // Long polling and FIFO queues get an empty answer instead of an error.
      if (isLongPoll) await wait(1_000);
      if (isLongPoll || queue.endsWith(".fifo")) return jsonAnswer(200, {});
      const message = `Too many messages in flight: ${inFlight}`;
      return errorAnswer("sqs", { status: 403, errorType: "OverLimit", message });
    },
    onReceived: (body: Buffer, answer: Answer): void => {
      const { length } = asList(parseJsonObject(answer.body.toString()).Messages);
      const queue = asString(parseJsonObject(body.toString()).QueueUrl);
      received.set(queue, (received.get(queue) ?? 0) + length);
    },
  };
}

const longestDelaySeconds = 900;
const mostAttributes = 10;
/** ASCII letters, digits and punctuation. */
const fifoId = /^[\x21-\x7e]{1,128}$/;

/**
 * Returns SQS's error for a message that the queue engine would accept. The gateway refuses a whole batch,
 * SQS only the entry.
 * Source: SQS API reference, "SendMessage"; developer guide, "Amazon SQS message quotas".
 */
export function messageFault({ action }: Operation, body: Buffer): Fault | undefined {
  if (action !== "sqs:SendMessage" && action !== "sqs:SendMessageBatch") return undefined;
  const input = parseJsonObject(body.toString());
  const entries = Array.isArray(input.Entries) ? input.Entries.map(asObject) : [input];
  const reason = entries.map(reasonToRefuse).find((found) => found !== undefined);
  if (reason === undefined) return undefined;
  return { status: 400, errorType: "InvalidParameterValue", message: reason };
}

function reasonToRefuse(entry: JsonObject): string | undefined {
  const delay = Number(entry.DelaySeconds ?? 0);
  if (delay < 0 || delay > longestDelaySeconds) {
    return `Value ${delay} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= ${longestDelaySeconds}.`;
  }
  const attributes = Object.keys(asObject(entry.MessageAttributes)).length;
  if (attributes > mostAttributes) {
    return `Number of message attributes [${attributes}] exceeds the allowed maximum [${mostAttributes}].`;
  }
  for (const name of ["MessageGroupId", "MessageDeduplicationId"]) {
    if (entry[name] !== undefined && !fifoId.test(asString(entry[name]))) {
      return `Value for parameter ${name} is invalid. Reason: ${name} can only include alphanumeric and punctuation characters. 1 to 128 in length.`;
    }
  }
  return undefined;
}

export type Deduplication = ReturnType<typeof createDeduplication>;

/** Separates an id from the number of windows that have passed. Ids must not contain it. */
const mark = "#again";

/** @param now milliseconds since 1970 */
export function createDeduplication(windowSeconds: number, now: () => number) {
  const sent = new Map<string, { readonly at: number; readonly times: number }>();

  function renewed(queue: string, entry: JsonObject): JsonObject {
    const id = asString(entry.MessageDeduplicationId);
    if (id === "") return entry;
    const key = `${queue} ${id}`;
    const known = sent.get(key);
    const isDue = known !== undefined && now() - known.at >= windowSeconds * 1000;
    const current = known !== undefined && !isDue ? known : { at: now(), times: (known?.times ?? -1) + 1 };
    sent.set(key, current);
    return current.times === 0 ? entry : { ...entry, MessageDeduplicationId: `${id}${mark}${current.times}` };
  }

  return {
    /** Rewrites ids whose window has passed, because the engine's own window is always five minutes. */
    forEngine: ({ action }: Operation, body: Buffer): Buffer => {
      if (action !== "sqs:SendMessage" && action !== "sqs:SendMessageBatch") return body;
      const input = parseJsonObject(body.toString());
      const queue = asString(input.QueueUrl);
      const { Entries: entries } = input;
      const changed = Array.isArray(entries)
        ? { ...input, Entries: entries.map((entry) => renewed(queue, asObject(entry))) }
        : renewed(queue, input);
      return Buffer.from(JSON.stringify(changed));
    },
    /** Restores the caller's ids in the engine's answer. */
    forCaller: (body: string): string =>
      body.replace(new RegExp(`(?<="MessageDeduplicationId":"[^"]*)${mark}\\d+(?=")`, "g"), ""),
  };
}

export type MessageTraces = ReturnType<typeof createMessageTraces>;

/** Exceeds what a local queue holds; the oldest entries are dropped first. */
const mostKept = 100_000;

/** Keeps the trace header of each message, as SQS does; the queue engine does not. */
export function createMessageTraces() {
  const traces = new Map<string, string>();

  function withTrace(message: JsonObject): JsonObject {
    const trace = traces.get(asString(message.MessageId));
    if (trace === undefined) return message;
    return { ...message, Attributes: { ...asObject(message.Attributes), AWSTraceHeader: trace } };
  }

  return {
    onSent: (
      { action }: Operation,
      { headers }: Pick<IncomingMessage, "headers">,
      { status, body }: Answer,
    ): void => {
      const trace = headers["x-amzn-trace-id"];
      const isSend = action === "sqs:SendMessage" || action === "sqs:SendMessageBatch";
      if (!isSend || status !== 200 || typeof trace !== "string") return;
      const { MessageId: id, Successful: entries } = parseJsonObject(body.toString());
      const ids = [id, ...asList(entries).map((entry) => asObject(entry).MessageId)];
      for (const each of ids) if (typeof each === "string") traces.set(each, trace);
      for (const oldest of traces.keys()) {
        if (traces.size <= mostKept) break;
        traces.delete(oldest);
      }
    },
    /** Adds the attribute AWSTraceHeader to received messages that have one. */
    withTraces: (body: string): string => {
      const answer = parseJsonObject(body);
      const { Messages: messages } = answer;
      if (!Array.isArray(messages) || traces.size === 0) return body;
      return JSON.stringify({ ...answer, Messages: messages.map((message) => withTrace(asObject(message))) });
    },
  };
}
