import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import { holdKey, partitionOf } from "../../adapters/dynamodb/keys.ts";
import type { ErasableRecords } from "../../adapters/erasure/erasable-records.ts";
import type { StepOutcome } from "../../adapters/erasure/erasure-report.ts";
import { FailureError, retryable } from "../../domain/core/failures.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { messageOfErasure } from "../../domain/message/message.ts";
import {
  addRemoved,
  correlationOfErasure,
  type EraseStep,
  type EraseTask,
  objectsReadBy,
  readEraseTask,
  withRefusal,
  writeEraseTask,
} from "../../domain/recovery/erasure.ts";
import { mentions } from "../../domain/recovery/mentions.ts";
import { handleEachRecord, rejectPermanent } from "../runtime/sqs-batch.ts";
import { removeBodies } from "./bodies.ts";
import { removeDeadLetters } from "./dead-letters.ts";
import type { EraserDependencies, NextStep, StepDependencies } from "./dependencies.ts";
import { findOwn } from "./find-own.ts";
import { markErased } from "./mark-erased.ts";
import { removeRecords } from "./records.ts";

/** What Lambda says of an invocation. */
type Invocation = Pick<Context, "getRemainingTimeInMillis">;

/** A step stops looking for more when so much of the function's time is left. */
const reservedFraction = 0.25;

/**
 * Erases users and accounts, a step at a time: each step's message sends the next one, so that a killed function goes
 * on where it was, and each can be done again.
 */
export function eraser(
  dependencies: EraserDependencies,
): (event: SQSEvent, invocation: Invocation) => Promise<SQSBatchResponse> {
  const { send, deadLetterQueueUrl, log } = dependencies;
  const handleFailures = rejectPermanent(send, deadLetterQueueUrl, log);
  return (event, invocation) => {
    const secondsLeft = () => invocation.getRemainingTimeInMillis() / 1000;
    const reserved = secondsLeft() * reservedFraction;
    const timed = { ...dependencies, secondsLeft, isTimeOver: () => secondsLeft() < reserved };
    return handleEachRecord(({ body }) => goOn(readEraseTask(body), timed), handleFailures)(event);
  };
}

async function goOn(task: EraseTask, dependencies: StepDependencies): Promise<void> {
  const { keepReport, log } = dependencies;
  if (await isHeldBack(task, dependencies)) {
    log("ERASURE_HELD", { correlationId: correlationOfErasure(task) });
    return keepReport(task, "held");
  }
  const next = await perform(task, task.isDryRun ? dryRun(dependencies) : dependencies);
  if (task.isWaiting === true && next !== undefined) failWhileRefused(task.next, next.task);
  const outcome = outcomeOf(task, next?.task);
  // The report last: whoever follows it may rely on the second pass.
  if (next !== undefined) await sendNext(next, dependencies);
  await keepReport(next?.task.pass === task.pass ? next.task : task, outcome);
  if (outcome === "done" && task.isFound && !task.isDryRun)
    log(task.pass === 1 ? "ERASED" : "ERASED_AGAIN", {
      correlationId: correlationOfErasure(task),
      count: task.erased.length,
    });
}

function outcomeOf(task: EraseTask, next: EraseTask | undefined): StepOutcome {
  if (next === undefined) return "done";
  if (next.isWaiting === true) return "waiting";
  if (next.pass === task.pass) return "going on";
  return task.refused.length > 0 ? "waiting" : "done";
}

/**
 * Nothing is left to do but to read what S3 refuses. The message comes back, then goes to the dead letters of `erase`.
 * @throws retryable failure
 */
function failWhileRefused(step: EraseStep, { refused }: EraseTask): void {
  const kind = objectsReadBy[step];
  if (kind !== undefined && refused.includes(kind)) throw retryable(`S3 refuses ${kind}`);
}

/** @returns what is to be done next; undefined where all is done */
async function perform(task: EraseTask, dependencies: StepDependencies): Promise<NextStep | undefined> {
  const atOnce = (next: EraseTask) => ({ task: next, afterSeconds: 0 });
  switch (task.next) {
    case "subjects":
      return atOnce(await markErased(task, dependencies));
    case "records":
      return atOnce(await removeRecords(task, dependencies));
    case "dead letters":
      return removeDeadLetters(task, dependencies);
    case "bodies":
      return atOnce(await removeBodies(task, dependencies));
    case "undelivered changes":
      return atOnce(await removeUndeliveredChanges(task, dependencies));
    case "messages":
      if (task.isDryRun) return undefined;
      if (!task.isFound) {
        // Only now it is known that there is somebody: marked, and all is looked through again.
        if (Object.keys(task.removed).length === 0) return undefined;
        return atOnce({ ...task, isFound: true, next: "subjects" });
      }
      await announceErasures(task, dependencies);
      if (task.pass === 2 && task.refused.length > 0)
        return atOnce({ ...task, isWaiting: true, next: "dead letters" });
      if (task.pass === 2) return undefined;
      return { task: { ...task, pass: 2, next: "subjects" }, afterSeconds: dependencies.drainSeconds };
  }
}

async function sendNext(
  { task, afterSeconds }: NextStep,
  { send, queueUrl }: StepDependencies,
): Promise<void> {
  const delay = afterSeconds === 0 ? {} : { delayInSeconds: afterSeconds };
  const [failed] = await send(queueUrl, [{ body: writeEraseTask(task), ...delay }]);
  if (failed !== undefined) throw new FailureError(failed);
}

/**
 * Notifies subscribers of each that was erased, unless they know; killed in between, they are notified once more. Keeps
 * what was found, but for late copies: there may be any number of them.
 */
async function announceErasures(
  task: EraseTask,
  { digestOf, tombstones, publish, eventSource }: StepDependencies,
): Promise<void> {
  const marked = await Promise.all(
    task.erased.map(async (subject) => {
      const digest = await digestOf(subject);
      return { subject, digest, ...(await tombstones.place(digest, correlationOfErasure(task))) };
    }),
  );
  const unannounced = marked.filter(({ isAnnounced }) => !isAnnounced);
  const messages = unannounced.map(({ subject, erasedAt, correlationId }, index) => ({
    index,
    message: messageOfErasure(subject, erasedAt, eventSource, correlationId),
  }));
  const [failed] = await publish(messages);
  if (failed !== undefined) throw new FailureError(failed.failure);
  await Promise.all(unannounced.map(({ digest }) => tombstones.markAnnounced(digest)));
  const erasure = correlationOfErasure(task);
  if (erasure === undefined || task.cause === "arrived late") return;
  await Promise.all(marked.map(({ digest }) => tombstones.keepFound(digest, erasure, task)));
}

/** What a step works with that counts what it would remove, and removes nothing. */
export function dryRun(dependencies: StepDependencies): StepDependencies {
  const { records, objects, deadLetters, removeUndelivered } = dependencies;
  return {
    ...dependencies,
    records: { ...records, remove: async () => true, forgetLastEvent: async () => undefined },
    objects: { ...objects, remove: async () => undefined, removeBelow: objects.countBelow },
    deadLetters: async (secondsLeft) =>
      (await deadLetters(secondsLeft)).map(([queue, places]) => [
        queue,
        places.map(
          (place) => (look) => place(async (found) => ({ done: [], isEnough: (await look(found)).isEnough })),
        ),
      ]),
    removeUndelivered: (isUnwanted) => removeUndelivered(isUnwanted, { isDryRun: true }),
  };
}

/** Takes what names the erased out of the changes that the relay gave up on. */
async function removeUndeliveredChanges(
  task: EraseTask,
  { removeUndelivered }: StepDependencies,
): Promise<EraseTask> {
  const found = await removeUndelivered(mentions(task.erased, (subject) => [partitionOf(subject)]));
  const removed =
    found.removed === 0 ? task.removed : addRemoved(task.removed, { "undelivered changes": found.removed });
  const refused = withRefusal(task.refused, "undelivered changes", found.refused > 0);
  return { ...task, removed, refused, next: "messages" };
}

/**
 * Whether a legal hold keeps an erasure from being begun: one on its subject, on an account that would go with it, or on a
 * user whom an account's records name. What was begun goes on, and what was erased before is erased again.
 */
async function isHeldBack(task: EraseTask, dependencies: StepDependencies): Promise<boolean> {
  const { subject, cause, next, pass, isDespiteHold = false } = task;
  if (isDespiteHold || pass === 2 || next !== "subjects") return false;
  if (cause !== "operator" && cause !== "deleted") return false;
  const { records, tombstones, digestOf } = dependencies;
  const { own, others } = await findOwn(task, records);
  for (const each of [subject, ...own, ...(subject.kind === "user" ? [] : others)]) {
    if (await isHeld(each, records)) return !(await tombstones.isPlaced(await digestOf(subject)));
  }
  return false;
}

async function isHeld(subject: Subject, records: ErasableRecords): Promise<boolean> {
  const { sk } = holdKey(subject);
  for await (const page of records.pagesOf(subject)) if (page.some(({ key }) => key.sk === sk)) return true;
  return false;
}
