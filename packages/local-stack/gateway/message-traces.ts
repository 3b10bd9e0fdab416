import type { IncomingMessage } from "node:http";
import type { Answer } from "../http-server.ts";
import { asObject, asString, type JsonObject, type Operation, parseJsonObject } from "./operation.ts";

/** Keeps the trace header with which a message was sent, as SQS does; the engine of queues knows none. */
export type MessageTraces = {
  onSent(operation: Operation, message: Pick<IncomingMessage, "headers">, answer: Answer): void;
  /** An answer to a receive, with the attribute AWSTraceHeader of messages that have one. */
  withTraces(body: string): string;
};

/** More than a queue of this machine holds; the oldest are forgotten first. */
const mostKept = 100_000;

export function createMessageTraces(): MessageTraces {
  const traces = new Map<string, string>();

  function withTrace(message: JsonObject): JsonObject {
    const trace = traces.get(asString(message.MessageId));
    if (trace === undefined) return message;
    return { ...message, Attributes: { ...asObject(message.Attributes), AWSTraceHeader: trace } };
  }

  return {
    onSent: ({ action }, { headers }, { status, body }) => {
      const trace = headers["x-amzn-trace-id"];
      const isSend = action === "sqs:SendMessage" || action === "sqs:SendMessageBatch";
      if (!isSend || status !== 200 || typeof trace !== "string") return;
      const { MessageId: id, Successful: entries } = parseJsonObject(body.toString());
      const ids = [id, ...(Array.isArray(entries) ? entries : []).map((entry) => asObject(entry).MessageId)];
      for (const each of ids) if (typeof each === "string") traces.set(each, trace);
      for (const oldest of traces.keys()) {
        if (traces.size <= mostKept) break;
        traces.delete(oldest);
      }
    },
    withTraces: (body) => {
      const answer = parseJsonObject(body);
      const { Messages: messages } = answer;
      if (!Array.isArray(messages) || traces.size === 0) return body;
      return JSON.stringify({ ...answer, Messages: messages.map((message) => withTrace(asObject(message))) });
    },
  };
}
