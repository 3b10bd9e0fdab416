import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { partitionOf } from "../../adapters/dynamodb/keys.ts";
import type { ReviseState } from "../../adapters/dynamodb/versioned-records.ts";
import type { StreamRecord } from "../../adapters/streams/change-stream.ts";
import { type Failure, FailureError, failureOf, permanent } from "../../domain/core/failures.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { type FetchTask, fetchTaskMessage, mergeKeyOf, mergeTasks } from "../../domain/fetch/task.ts";
import type { Consequence } from "../../domain/message/consequences.ts";
import { writeDeadline } from "../../domain/readiness/stored-readiness.ts";
import { writeEraseTask } from "../../domain/recovery/erasure.ts";
import { applyEvent } from "../../domain/state/state.ts";
import type { Log } from "../runtime/log.ts";
import { deliver, type OutgoingText } from "../runtime/subscriber-queues.ts";
import {
  completeSteps,
  derive,
  followAccounts,
  followReadiness,
  latenciesOf,
  type Readiness,
  type RelayDependencies,
  type Step,
} from "./derive.ts";
import { logParked, runMarked } from "./parking.ts";

/**
 * Relays the table's changes. Writes states and readiness (in order within a partition), then sends tasks and
 * messages, writes links, and removes objects that nothing points to any more, all concurrently. Permanent failures
 * are parked. The first other failure is reported to Lambda, which delivers that record and all later ones again.
 */
export function relay(dependencies: RelayDependencies) {
  return async ({
    Records,
    parks = true,
  }: DynamoDBStreamEvent & {
    /** False when `repair` relays parked records: it keeps, and must know, those that fail. */
    readonly parks?: boolean;
  }): Promise<DynamoDBBatchResponse> => {
    const relayAll = () => relayBatch(Records, parks, dependencies);
    if (!parks) return relayAll();
    const relayed = await runMarked(Records, relayAll, dependencies);
    return relayed ?? { batchItemFailures: [] };
  };
}

async function relayBatch(
  records: readonly StreamRecord[],
  parks: boolean,
  dependencies: RelayDependencies,
): Promise<DynamoDBBatchResponse> {
  const derived = records.map((record) => derive(record, dependencies));
  // Concurrent reads share one request. States of erased subjects are read too, but not used.
  const [steps, revise] = await Promise.all([
    completeSteps(derived, dependencies),
    dependencies.versionedRecords.readAhead(statesIn(derived)),
  ]);
  await writeInside(steps, revise, dependencies);
  const [unsent] = await Promise.all([sendAll(steps, dependencies), performUnordered(steps, dependencies)]);
  for (const { index, failure, subscriber } of unsent) {
    const step = steps[index];
    if (step !== undefined && (subscriber === undefined || !parks)) step.failure ??= failure;
  }
  if (parks) await parkRefused(records, steps, unsent, dependencies);
  if (parks) await parkPermanent(records, steps, dependencies);
  const isLate = (step: Step) => !parks || unsent.some(({ index }) => steps[index] === step);
  logRelayed(steps, isLate, dependencies);
  return firstFailed(records, steps, dependencies.log);
}

function statesIn(steps: readonly Step[]): readonly Subject[] {
  return steps.flatMap(({ consequences }) =>
    consequences.flatMap((each) => (each.type === "applyEvent" ? [each.subject] : [])),
  );
}

/** Writes states and readiness, those of a partition in order. */
async function writeInside(
  steps: readonly Step[],
  revise: ReviseState,
  dependencies: RelayDependencies,
): Promise<void> {
  const writes = steps.flatMap((step) =>
    step.consequences.flatMap((consequence) => {
      const write = writeOf(consequence, revise, dependencies);
      return write === undefined ? [] : [{ step, ...write }];
    }),
  );
  const byPartition = Map.groupBy(writes, ({ subject }) => partitionOf(subject));
  await Promise.all([...byPartition.values()].map(inOrder));
}

/** Neither waits for other consequences, nor do others wait for it. */
async function performUnordered(
  steps: readonly Step[],
  { link, removeSuperseded }: RelayDependencies,
): Promise<void> {
  const performed = steps.map(async (step) => {
    if (step.failure !== undefined) return;
    for (const each of step.consequences) {
      if (each.type === "link") step.failure ??= await attempt(() => link(each.userId, each.accountId));
      if (each.type === "removeObject")
        step.failure ??= await attempt(() => removeSuperseded(each.superseded));
    }
  });
  await Promise.all(performed);
}

/** Writes in order. A retryable failure, unlike a permanent one, fails the partition's later writes too. */
async function inOrder(
  writes: readonly { readonly step: Step; readonly run: () => Promise<void> }[],
): Promise<void> {
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
  const outgoing = steps.flatMap(({ consequences, failure }, index) =>
    failure === undefined ? consequences.map((consequence) => ({ index, ...consequence })) : [],
  );
  const ofType = <Type extends Consequence["type"]>(type: Type) =>
    outgoing.filter((each): each is Extract<typeof each, { type: Type }> => each.type === type);
  const deliverTo = async (queueUrl: string | undefined, texts: readonly OutgoingText[]) => {
    if (texts.length === 0) return [];
    if (queueUrl !== undefined) return deliver(send, queueUrl, texts);
    const { failure } = permanent("the settings of this relay name no queue for it");
    return texts.map((text) => ({ text, failure }));
  };
  const [failedTasks, , ...failed] = await Promise.all([
    sendTasks(ofType("call"), dependencies),
    // A canary that can't be sent is missed by its function. It must not hold up the changes after it.
    deliverTo(
      queues.canary,
      ofType("confirmCanary").map(({ index, id }) => ({ index, body: id })),
    ),
    deliverTo(
      queues.erase,
      ofType("erase").map(({ index, task }) => ({ index, body: writeEraseTask(task) })),
    ),
    deliverTo(
      queues.deadlines,
      ofType("endWait").map(({ index, deadline }) => ({ index, body: writeDeadline(deadline) })),
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

/** Parks changes whose messages a subscriber's queue refused, so that they don't block the shard. */
async function parkRefused(
  records: readonly StreamRecord[],
  steps: readonly Step[],
  unsent: readonly Unsent[],
  { park, log }: RelayDependencies,
): Promise<void> {
  const settled = countSettled(steps);
  const bySubscriber = Map.groupBy(
    unsent.filter(({ index }) => index < settled),
    ({ subscriber }) => subscriber,
  );
  await Promise.all(
    [...bySubscriber].map(async ([subscriber, ofSubscriber]) => {
      if (subscriber === undefined) return;
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

/** The subject that a consequence changes in the table, and the write; undefined for all other consequences. */
function writeOf(consequence: Consequence, revise: ReviseState, dependencies: RelayDependencies) {
  switch (consequence.type) {
    case "applyEvent": {
      const { subject, event, receipts, since } = consequence;
      const { erasesOnDeletion: confirmsUserDeletions, attributes } = dependencies;
      const options = {
        ...{ since, confirmsUserDeletions, asksForUsers: attributes?.asks === true },
        followsConnections: dependencies.settings.readiness !== undefined,
        givesReasons: dependencies.givesReasons === true,
      };
      const run = () => revise(subject, (state) => applyEvent(state, event, receipts, options));
      return { subject, run };
    }
    case "followReadiness": {
      const { change } = consequence;
      return { subject: change.after.subject, run: () => followReadiness(change, readinessOf(dependencies)) };
    }
    case "followAccounts": {
      const subject: Subject = { kind: "user", id: consequence.userId };
      return { subject, run: () => followAccounts(consequence, readinessOf(dependencies)) };
    }
    case "link":
    case "removeObject":
    case "call":
    case "endWait":
    case "confirmCanary":
    case "erase":
    case "publish":
      return undefined;
  }
}

function readinessOf({ readiness }: RelayDependencies): Readiness {
  if (readiness === undefined) throw permanent("readiness: not in the settings");
  return readiness;
}

/** Consequences that are tasks for other functions. */
const taskTypes: readonly Consequence["type"][] = ["call", "endWait", "confirmCanary", "erase"];

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
  const types = relayed.flatMap(({ consequences }) => consequences.map(({ type }) => type));
  log("RELAYED", {
    count: relayed.length,
    messages: types.filter((type) => type === "publish").length,
    tasks: types.filter((type) => taskTypes.includes(type)).length,
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
