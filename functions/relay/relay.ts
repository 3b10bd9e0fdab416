import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { partitionOf } from "../../adapters/dynamodb/keys.ts";
import type { Revise } from "../../adapters/dynamodb/versioned-records.ts";
import type { StreamRecord } from "../../adapters/streams/change-stream.ts";
import { type Failure, FailureError, failureOf, permanent } from "../../domain/core/failures.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { type FetchTask, fetchTaskMessage, mergeKeyOf, mergeTasks } from "../../domain/fetch/task.ts";
import type { Consequence } from "../../domain/message/consequences.ts";
import { writeDeadline } from "../../domain/readiness/stored-readiness.ts";
import { writeEraseTask } from "../../domain/recovery/erasure.ts";
import { applyEvent } from "../../domain/state/state.ts";
import type { Log } from "../runtime/log.ts";
import { deliver, type FailedText, type OutgoingText } from "../runtime/subscriber-queues.ts";
import {
  type Derived,
  derive,
  followAccounts,
  followReadiness,
  latenciesOf,
  type Readiness,
  type RelayDependencies,
  type Step,
  stepsOf,
} from "./derive.ts";
import { logParked, runMarked } from "./parking.ts";

type Inside = Extract<Consequence, { type: "applyEvent" | "followReadiness" | "followAccounts" }>;
type Unordered = Extract<Consequence, { type: "link" | "removeObject" }>;
type Outgoing = Exclude<Consequence, Inside | Unordered>;

/**
 * Relays the table's changes. Writes states and readiness (in order within a partition), then sends tasks and
 * messages, writes links, and removes objects that nothing points to any more, all concurrently. Permanent failures
 * are parked. The first other failure is reported to Lambda, which delivers that record and all later ones again.
 */
export function relay(dependencies: RelayDependencies) {
  return (event: RelayEvent): Promise<DynamoDBBatchResponse> =>
    event.parks === false
      ? relayBatch(event, dependencies)
      : runMarked(
          event.Records,
          () => relayBatch(event, dependencies),
          { batchItemFailures: [] },
          dependencies,
        );
}

/** `parks` is false when `repair` relays parked records: it keeps, and must know, those that fail. */
type RelayEvent = DynamoDBStreamEvent & { readonly parks?: boolean };

async function relayBatch(
  { Records, parks = true }: RelayEvent,
  dependencies: RelayDependencies,
): Promise<DynamoDBBatchResponse> {
  const derived = derive(Records, dependencies);
  // Concurrent reads share one request. States of erased subjects are read too, but not used.
  const [steps, revise] = await Promise.all([
    stepsOf(derived, dependencies),
    dependencies.versionedRecords.readAhead(statesIn(derived)),
  ]);
  await writeInside(steps, revise, dependencies);
  const [unsent] = await Promise.all([sendAll(steps, dependencies), performUnordered(steps, dependencies)]);
  const refused: Refused[] = [];
  for (const { index, failure, subscriber } of unsent) {
    const step = steps[index];
    if (step === undefined) continue;
    if (subscriber !== undefined && parks) refused.push({ index, failure, subscriber });
    else step.failure ??= failure;
  }
  await parkRefused(Records, steps, refused, dependencies);
  if (parks) await parkPermanent(Records, steps, dependencies);
  const isLate = (step: Step) => !parks || refused.some(({ index }) => steps[index] === step);
  logRelayed(steps, isLate, dependencies);
  return firstFailed(Records, steps, dependencies.log);
}

function outgoingOf({ consequences, failure }: Step): readonly Outgoing[] {
  if (failure !== undefined) return [];
  return consequences.filter(
    (consequence): consequence is Outgoing => !isInside(consequence) && !isUnordered(consequence),
  );
}

function isInside(consequence: Consequence): consequence is Inside {
  return ["applyEvent", "followReadiness", "followAccounts"].includes(consequence.type);
}

function isUnordered(consequence: Consequence): consequence is Unordered {
  return consequence.type === "link" || consequence.type === "removeObject";
}

function statesIn(derived: readonly (Derived | Failure)[]): readonly Subject[] {
  return derived
    .flatMap((each) => ("type" in each ? [] : each.consequences))
    .flatMap((consequence) => (consequence.type === "applyEvent" ? [consequence.subject] : []));
}

async function writeInside(
  steps: readonly Step[],
  revise: Revise,
  dependencies: RelayDependencies,
): Promise<void> {
  const writes = steps.flatMap((step) =>
    step.consequences.filter(isInside).map((consequence) => ({
      step,
      partition: partitionOf(subjectOf(consequence)),
      run: () => write(consequence, revise, dependencies),
    })),
  );
  await Promise.all([...Map.groupBy(writes, ({ partition }) => partition).values()].map(inOrder));
}

/** Neither waits for other consequences, nor do others wait for it. */
async function performUnordered(
  steps: readonly Step[],
  { link, removeSuperseded }: RelayDependencies,
): Promise<void> {
  const perform = (consequence: Unordered) =>
    consequence.type === "link"
      ? link(consequence.userId, consequence.accountId)
      : removeSuperseded(consequence.superseded);
  const performed = steps.map(async (step) => {
    const consequences = step.failure === undefined ? step.consequences.filter(isUnordered) : [];
    for (const consequence of consequences) step.failure ??= await attempt(() => perform(consequence));
  });
  await Promise.all(performed);
}

type Write = { readonly step: Step; readonly run: () => Promise<void> };

/** Writes in order. A retryable failure, unlike a permanent one, fails the partition's later writes too. */
async function inOrder(writes: readonly Write[]): Promise<void> {
  let failure: Failure | undefined;
  for (const { step, run } of writes) {
    const own = failure ?? (await attempt(run));
    step.failure ??= own;
    if (own?.type === "retryable") failure = own;
  }
}

/** Sends tasks and messages, batched over the whole invocation. @returns what could not be sent */
async function sendAll(steps: readonly Step[], dependencies: RelayDependencies): Promise<readonly Unsent[]> {
  const { send, queues, publish } = dependencies;
  const outgoing = steps.flatMap((step, index) =>
    outgoingOf(step).map((consequence) => ({ index, ...consequence })),
  );
  const ofType = <Type extends Outgoing["type"]>(type: Type) =>
    outgoing.filter((each): each is Extract<typeof each, { type: Type }> => each.type === type);
  const [failedTasks, , ...failed] = await Promise.all([
    sendTasks(ofType("call"), dependencies),
    sendCanaries(
      ofType("confirmCanary").map(({ id }) => id),
      dependencies,
    ),
    deliver(
      send,
      queues.erase,
      ofType("erase").map(({ index, task }) => ({ index, body: writeEraseTask(task) })),
    ),
    sendDeadlines(
      ofType("endWait").map(({ index, deadline }) => ({ index, body: writeDeadline(deadline) })),
      dependencies,
    ),
    publish(ofType("publish")),
  ]);
  return [...failedTasks, ...failed.flat().map(({ text: { index }, ...unsent }) => ({ index, ...unsent }))];
}

/** The index of a record whose consequence was not sent; `subscriber` if only this subscriber's queue refused it. */
type Unsent = {
  readonly index: number;
  readonly failure: Failure;
  readonly subscriber?: string | undefined;
};

/** Merges the tasks of each document into one. If it can't be sent, every record that led to it fails. */
async function sendTasks(
  tasks: readonly { readonly index: number; readonly task: FetchTask }[],
  { send, queues }: RelayDependencies,
): Promise<readonly Unsent[]> {
  const merged = mergeTasks(tasks.map(({ task }) => task));
  if (merged.length === 0) return [];
  const failures = await send(queues.fetch, merged.map(fetchTaskMessage));
  const failureOfKey = new Map(merged.map((task, index) => [mergeKeyOf(task), failures[index]]));
  return tasks.flatMap(({ index, task }) => {
    const failure = failureOfKey.get(mergeKeyOf(task));
    return failure === undefined ? [] : [{ index, failure }];
  });
}

/** A canary that can't be sent is missed by its function. It must not hold up the changes after it. */
async function sendCanaries(ids: readonly string[], { send, queues }: RelayDependencies): Promise<void> {
  if (queues.canary === undefined || ids.length === 0) return;
  await send(
    queues.canary,
    ids.map((body) => ({ body })),
  );
}

async function sendDeadlines(
  texts: readonly OutgoingText[],
  { send, queues }: RelayDependencies,
): Promise<readonly FailedText[]> {
  if (texts.length === 0) return [];
  if (queues.deadlines === undefined) {
    const { failure } = permanent("readiness: this relay has no queue of deadlines");
    return texts.map((text) => ({ text, failure }));
  }
  return deliver(send, queues.deadlines, texts);
}

type Refused = { readonly index: number; readonly failure: Failure; readonly subscriber: string };

/** Parks changes whose messages a subscriber's queue refused, so that they don't block the shard. */
async function parkRefused(
  records: readonly StreamRecord[],
  steps: readonly Step[],
  refused: readonly Refused[],
  { park, log }: RelayDependencies,
): Promise<void> {
  const settled = countSettled(steps);
  const bySubscriber = Map.groupBy(
    refused.filter(({ index }) => index < settled),
    ({ subscriber }) => subscriber,
  );
  await Promise.all(
    [...bySubscriber].map(async ([subscriber, ofSubscriber]) => {
      const reason = ofSubscriber[0]?.failure.reason ?? "";
      const indexes = new Set(ofSubscriber.map(({ index }) => index));
      const parked = records.filter((_, index) => indexes.has(index));
      const failure = await attempt(() => park(parked, reason, subscriber));
      const concerned = steps.filter((_, index) => indexes.has(index));
      if (failure !== undefined) for (const step of concerned) step.failure ??= failure;
      else {
        const correlationIds = concerned.flatMap(({ correlationId }) => correlationId ?? []);
        log("SUBSCRIBER_PARKED", { subscriber, count: ofSubscriber.length, correlationIds, reason });
      }
    }),
  );
}

/** Parks records that failed permanently, so that they don't block the shard. */
async function parkPermanent(
  records: readonly StreamRecord[],
  steps: Step[],
  { park, log }: RelayDependencies,
): Promise<void> {
  await Promise.all(
    steps.slice(0, countSettled(steps)).map(async (step, index) => {
      const { failure, correlationId } = step;
      const record = records[index];
      // A record without a sequence number can't be identified; its batch fails.
      if (failure?.type !== "permanent" || record?.dynamodb?.SequenceNumber === undefined) return;
      step.failure = await attempt(() => park([record], failure.reason));
      if (step.failure !== undefined) return;
      steps[index] = { ...step, consequences: [], failure: undefined };
      logParked(record, { correlationId, reason: failure.reason }, log);
    }),
  );
}

/** Number of records before the first retryable failure. Lambda delivers that one and all later ones again. */
function countSettled(steps: readonly Step[]): number {
  const end = steps.findIndex(({ failure }) => failure?.type === "retryable");
  return end < 0 ? steps.length : end;
}

function attempt(run: () => Promise<void>): Promise<Failure | undefined> {
  return Promise.try(run).then(() => undefined, failureOf);
}

function subjectOf(consequence: Inside): Subject {
  switch (consequence.type) {
    case "applyEvent":
      return consequence.subject;
    case "followReadiness":
      return consequence.change.after.subject;
    case "followAccounts":
      return { kind: "user", id: consequence.userId };
  }
}

function write(consequence: Inside, revise: Revise, dependencies: RelayDependencies): Promise<void> {
  switch (consequence.type) {
    case "applyEvent": {
      const { subject, event, receipts, since } = consequence;
      const { erasesOnDeletion: confirmsUserDeletions, attributes } = dependencies;
      const options = {
        ...{ since, confirmsUserDeletions, asksForUsers: attributes?.asks === true },
        followsConnections: dependencies.settings.readiness !== undefined,
        givesReasons: dependencies.givesReasons === true,
      };
      return revise.state(subject, (state) => applyEvent(state, event, receipts, options));
    }
    case "followReadiness":
      return followReadiness(consequence.change, readinessOf(dependencies));
    case "followAccounts":
      return followAccounts(consequence, readinessOf(dependencies));
  }
}

function readinessOf({ readiness }: RelayDependencies): Readiness {
  if (readiness === undefined) throw permanent("readiness: not in the settings");
  return readiness;
}

/**
 * Logs one line with the ids of all relayed records: a line for each would cost more than the change. Lambda
 * delivers the first failed record and all later ones again, so they are logged then.
 * @param isLate whether a step's messages are sent later, or were sent before: its latency is not measured now
 */
function logRelayed(
  steps: readonly Step[],
  isLate: (step: Step) => boolean,
  { log, now }: RelayDependencies,
): void {
  const firstFailure = steps.findIndex(({ failure }) => failure !== undefined);
  const relayed = steps
    .slice(0, firstFailure < 0 ? steps.length : firstFailure)
    .filter(({ consequences }) => consequences.length > 0);
  if (relayed.length === 0) return;
  const outgoing = relayed.flatMap(outgoingOf);
  log("RELAYED", {
    count: relayed.length,
    messages: outgoing.filter((consequence) => consequence.type === "publish").length,
    tasks: outgoing.filter((consequence) => consequence.type !== "publish").length,
    correlationIds: [...new Set(relayed.flatMap(({ correlationId }) => correlationId ?? []))],
    ...latenciesOf(
      relayed.filter((step) => !isLate(step)),
      now(),
    ),
  });
}

function firstFailed(
  records: readonly StreamRecord[],
  steps: readonly Step[],
  log: Log,
): DynamoDBBatchResponse {
  const index = steps.findIndex(({ failure }) => failure !== undefined);
  const { failure, correlationId } = steps[index] ?? {};
  if (failure === undefined) return { batchItemFailures: [] };
  const itemIdentifier = records[index]?.dynamodb?.SequenceNumber;
  log("RECORD_FAILED", {
    ...(itemIdentifier === undefined ? {} : { messageId: itemIdentifier }),
    correlationId,
    reason: failure.reason,
  });
  // A record without a sequence number can't be reported, so the whole batch fails.
  if (itemIdentifier === undefined) throw new FailureError(failure);
  return { batchItemFailures: [{ itemIdentifier }] };
}
