import type { ReadKey, WriteItem } from "../../adapters/dynamodb/batching.ts";
import type { Key } from "../../adapters/dynamodb/keys.ts";
import { type ReadinessRecords, readinessRecords } from "../../adapters/dynamodb/versioned-records.ts";
import type { ApiCall, ProviderApi } from "../../adapters/provider/provider-api.ts";
import type { messageVisibility, Send } from "../../adapters/sqs/sqs-sender.ts";
import type { Do } from "./processes.ts";
import type { Surroundings } from "./surroundings.ts";

/** A failed send, as the adapter reports it. */
const unsent = { type: "retryable", reason: "SQS: injected", delayInSeconds: 0 } as const;

/** A port of queues in which each send is one step; a fault reports every message as failed. */
export function sender(simulation: Surroundings, step: Do): Send {
  return async (queueUrl, messages) => {
    if (messages.length === 0) return [];
    const send = () => {
      for (const message of messages) simulation.send(queueUrl, message);
    };
    try {
      await step(`sends to ${queueUrl}`, send);
      return messages.map(() => undefined);
    } catch {
      return messages.map(() => unsent);
    }
  };
}

/** A port to the visibility of messages. A failure leaves them hidden for the queue's time. */
export function visibilityOf(simulation: Surroundings, step: Do) {
  return async (queueUrl: string, hidden: Parameters<ReturnType<typeof messageVisibility>>[1]) => {
    if (hidden.length === 0) return [];
    const hide = () => {
      for (const { receiptHandle, seconds } of hidden) simulation.hide(queueUrl, receiptHandle, seconds);
    };
    await step("hides tasks", hide).catch(() => undefined);
    return hidden.map(() => undefined);
  };
}

/** A port to the table in which each read and write of an item is a step. */
export function itemsOf(
  { table }: Surroundings,
  step: Do,
): { readonly read: ReadKey; readonly write: WriteItem } {
  return {
    read: (key) => step(`reads ${kindOf(key)}`, () => table.read(key)),
    write: (write) => step(`writes ${kindOf(write.key)}`, () => table.write(write)),
  };
}

function kindOf({ sk }: Key): string {
  return sk.split("#")[0] ?? sk;
}

export function readinessRecordsOf(simulation: Surroundings, step: Do): ReadinessRecords {
  const { read, write } = itemsOf(simulation, step);
  return readinessRecords(read, write);
}

/** Steps that are requests to DynamoDB, and the time in whole seconds of its last answer. */
export function tableRequests(simulation: Surroundings, step: Do) {
  let date = 0;
  const request: Do = async (what, effect) => {
    const answer = await step(what, effect);
    date = Math.floor(simulation.time / 1_000) * 1_000;
    return answer;
  };
  return { request, clock: () => date };
}

/** @param onArrival called for each request that the provider accepts */
export function callOf(
  simulation: Surroundings,
  step: Do,
  onArrival: (call: ApiCall) => void = () => undefined,
): Pick<ProviderApi, "send"> {
  const send = async (token: string, call: ApiCall) => {
    // First the request is in transit, then the answer.
    const answer = await step(`calls ${call.method} ${call.path}`, () => {
      const answered = simulation.provider.answer(token, call);
      onArrival(call);
      if (answered.found) simulation.answered.push({ target: call.path, sentAt: simulation.queueTime });
      return answered;
    });
    return step("has its answer", () => answer);
  };
  return { send };
}
