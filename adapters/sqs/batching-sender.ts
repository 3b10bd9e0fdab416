import type { Failure } from "../../domain/core/failures.ts";
import type { Outgoing, Send } from "./sqs-sender.ts";

/** Sends as `Send` does. @param untilReady resolves when concurrent senders are ready too */
export type SharedSend = (
  queueUrl: string,
  messages: readonly Outgoing[],
  untilReady?: () => Promise<unknown>,
) => Promise<readonly (Failure | undefined)[]>;

type Batch = { readonly messages: Outgoing[]; readonly outcomes: ReturnType<Send> };

/** Concurrent sends to one queue share requests; each message has its own result. */
export function batchingSender(send: Send): SharedSend {
  const open = new Map<string, Batch>();
  const openBatch = (queueUrl: string): Batch => {
    const messages: Outgoing[] = [];
    const outcomes = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      open.delete(queueUrl);
      return send(queueUrl, messages);
    });
    const batch = { messages, outcomes };
    open.set(queueUrl, batch);
    return batch;
  };
  return async (queueUrl, messages, untilReady) => {
    await untilReady?.();
    if (messages.length === 0) return [];
    const { messages: shared, outcomes } = open.get(queueUrl) ?? openBatch(queueUrl);
    const first = shared.length;
    shared.push(...messages);
    return (await outcomes).slice(first, first + messages.length);
  };
}
