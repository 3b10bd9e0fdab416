import {
  type ReadinessRecords,
  type ReviseState,
  readinessRecords,
  type VersionedRecords,
} from "../../adapters/dynamodb/versioned-records.ts";
import type { ApiCall, ProviderApi } from "../../adapters/provider/provider-api.ts";
import type { messageVisibility, Send } from "../../adapters/sqs/sqs-sender.ts";
import type { Do } from "./processes.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Ahead } from "./table.ts";

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

export function versionedRecordsOf(simulation: Surroundings, step: Do): VersionedRecords {
  const { table } = simulation;
  const revising = (ahead: Ahead): ReviseState => {
    return (subject, change, known) => table.reviseState(step, subject, change, { ahead, known });
  };
  return {
    // Entries that cannot be read ahead are read in their turn.
    readAhead: (names) =>
      step("reads records", () => table.readAhead(names)).then(revising, () => revising(table.readAhead([]))),
    reviseState: revising(table.readAhead([])),
    loadState: (subject) => step("reads a state", () => table.loadState(subject)),
  };
}

export function readinessRecordsOf({ table }: Surroundings, step: Do): ReadinessRecords {
  return readinessRecords(
    (key) => step(`reads ${key.sk}`, () => table.readItem(key)),
    (write) => step("writes readiness", () => table.writeReadiness(write)),
  );
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
