import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { holdKey, partitionOf } from "../../adapters/dynamodb/keys.ts";
import type { ErasableRecords } from "../../adapters/erasure/erasable-records.ts";
import type { StepOutcome } from "../../adapters/erasure/tombstones.ts";
import { FailureError, retryable } from "../../domain/core/failures.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { messageOfErasure } from "../../domain/message/erasure-message.ts";
import {
  addRemoved,
  correlationOfErasure,
  objectsReadBy,
  withRefusal,
} from "../../domain/recovery/erase-progress.ts";
import { type EraseTask, readEraseTask, writeEraseTask } from "../../domain/recovery/erasure.ts";
import { mentions } from "../../domain/recovery/mentions.ts";
import { handleEachRecord, rejectPermanent } from "../runtime/sqs-batch.ts";
import { removeBodies } from "./bodies.ts";
import { removeDeadLetters } from "./dead-letters.ts";
import type { EraserDependencies, NextStep, TimeLeft } from "./dependencies.ts";
import { findOwn, removeRecords } from "./records.ts";

/**
 * Places tombstones for a subject and its accounts: from then on nothing about them leaves the table, and
 * late data is erased. Adds them to the erasure log for restores. Nothing is removed before the next message
 * names them all: only their records show whose they are.
 */
export async function markErased(task: EraseTask, dependencies: EraserDependencies): Promise<EraseTask> {
  if (task.isFound && !task.isDryRun) return mark(task, dependencies);
  const isFound = task.isFound || (await isKnown(task.subject, dependencies));
  if (isFound && !task.isDryRun) return mark({ ...task, isFound }, dependencies);
  const { own, others } = await findOwn(task, dependencies.records);
  const [erased, namedWith] = [[task.subject, ...own], merge([...task.namedWith, ...others])];
  // Not found, or a dry run: dead letters may still name the subject.
  return { ...task, isFound, erased, namedWith, isThorough: true, next: "records" };
}

async function isKnown(
  subject: Subject,
  { digestOf, tombstones, records }: EraserDependencies,
): Promise<boolean> {
  for await (const page of records.pagesOf(subject)) if (page.length > 0) return true;
  return tombstones.isPlaced(await digestOf(subject));
}

async function mark(task: EraseTask, dependencies: EraserDependencies): Promise<EraseTask> {
  const { digestOf, tombstones, writeLog, records } = dependencies;
  const place = async (subject: Subject) => {
    const digest = await digestOf(subject);
    const { erasedAt, isAnnounced } = await tombstones.place(digest, correlationOfErasure(task));
    await writeLog(digest, erasedAt);
    return isAnnounced;
  };
  // Before the search for accounts: the relay finds those that become known later.
  const erased = [await place(task.subject)];
  const { own, others } = await findOwn(task, records);
  const all = merge([task.subject, ...task.erased, ...own]);
  for (const subject of all.slice(1)) erased.push(await place(subject));
  return {
    ...task,
    erased: all,
    namedWith: merge([...task.namedWith, ...others]),
    // For late data about subjects that were erased before, dead letters have already been searched.
    isThorough: task.cause !== "arrived late" || !erased.every(Boolean) || task.isThorough,
    next: "records",
  };
}

function merge(subjects: readonly Subject[]): readonly Subject[] {
  return [...new Map(subjects.map((subject) => [nameOf(subject), subject])).values()];
}

type Invocation = Pick<Context, "getRemainingTimeInMillis">;

/** A step stops searching when this fraction of the function's time is left. */
const reservedFraction = 0.25;

/**
 * Erases users and accounts, one step per message. Each step sends the next step's message, so a killed
 * function continues where it stopped, and each step can run twice.
 */
export function eraser(
  dependencies: EraserDependencies,
): (event: SQSEvent, invocation: Invocation) => Promise<SQSBatchResponse> {
  const { send, deadLetterQueueUrl, log } = dependencies;
  const handleFailures = rejectPermanent(send, deadLetterQueueUrl, log);
  return (event, invocation) => {
    const seconds = () => invocation.getRemainingTimeInMillis() / 1000;
    const reserved = seconds() * reservedFraction;
    const timeLeft = { seconds, isOver: () => seconds() < reserved };
    const handle = ({ body }: SQSRecord) => runStep(readEraseTask(body), dependencies, timeLeft);
    return handleEachRecord(handle, handleFailures)(event);
  };
}

async function runStep(task: EraseTask, dependencies: EraserDependencies, timeLeft: TimeLeft): Promise<void> {
  const { writeReport, log } = dependencies;
  if (await isHeldBack(task, dependencies)) {
    log("ERASURE_HELD", { correlationId: correlationOfErasure(task) });
    return writeReport(task, "held");
  }
  const next = await perform(task, task.isDryRun ? dryRun(dependencies) : dependencies, timeLeft);
  if (task.isWaiting === true && next !== undefined) failWhileRefused(task.next, next.task);
  const outcome = outcomeOf(task, next?.task);
  // Write the report last: its readers rely on the second pass.
  if (next !== undefined) await sendNext(next, dependencies);
  await writeReport(next?.task.pass === task.pass ? next.task : task, outcome);
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
 * Fails a step that only waits for objects that S3 refuses. SQS retries the message, then moves it to the
 * dead letters of `erase`.
 * @throws retryable failure
 */
function failWhileRefused(step: EraseTask["next"], { refused }: EraseTask): void {
  const kind = objectsReadBy[step];
  if (kind !== undefined && refused.includes(kind)) throw retryable(`S3 refuses ${kind}`);
}

/** @returns the next step; undefined if nothing is left to do */
async function perform(
  task: EraseTask,
  dependencies: EraserDependencies,
  timeLeft: TimeLeft,
): Promise<NextStep | undefined> {
  const atOnce = (next: EraseTask) => ({ task: next, afterSeconds: 0 });
  switch (task.next) {
    case "subjects": {
      const marked = await markErased(task, dependencies);
      const isMarked = marked.isFound && !marked.isDryRun;
      // For late data the tombstones are old.
      return { task: marked, afterSeconds: isMarked && marked.isThorough ? dependencies.settleSeconds : 0 };
    }
    case "records":
      return atOnce(await removeRecords(task, dependencies, timeLeft));
    case "dead letters":
      return removeDeadLetters(task, dependencies, timeLeft);
    case "bodies":
      return atOnce(await removeBodies(task, dependencies, timeLeft));
    case "undelivered changes":
      return atOnce(await removeUndeliveredChanges(task, dependencies));
    case "messages":
      if (task.isDryRun) return undefined;
      if (!task.isFound) {
        // The removed items show that the subject exists: place its tombstone and search everything again.
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
  { send, queueUrl }: EraserDependencies,
): Promise<void> {
  const delay = afterSeconds === 0 ? {} : { delayInSeconds: afterSeconds };
  const [failed] = await send(queueUrl, [{ body: writeEraseTask(task), ...delay }]);
  if (failed !== undefined) throw new FailureError(failed);
}

/**
 * Notifies subscribers of each erased subject, unless that was done before. A killed run may notify them
 * twice. Records what was found, except for late data, which may arrive any number of times.
 */
async function announceErasures(
  task: EraseTask,
  { digestOf, tombstones, publish, eventSource }: EraserDependencies,
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

/** Dependencies with which a step counts what it would remove, and removes nothing. */
function dryRun(dependencies: EraserDependencies): EraserDependencies {
  const { records, objects, deadLetters, removeUndelivered } = dependencies;
  return {
    ...dependencies,
    records: { ...records, remove: async () => true, forget: async () => undefined },
    objects: { ...objects, remove: async () => undefined, removeBelow: objects.countBelow },
    deadLetters: async (secondsLeft) =>
      (await deadLetters(secondsLeft)).map(([queue, sources]) => [
        queue,
        sources.map(
          (source) => (handle) =>
            source(async (found) => ({ done: [], isEnough: (await handle(found)).isEnough })),
        ),
      ]),
    removeUndelivered: (isUnwanted) => removeUndelivered(isUnwanted, { isDryRun: true }),
  };
}

/** Removes undelivered changes that name the erased subjects. */
async function removeUndeliveredChanges(
  task: EraseTask,
  { removeUndelivered }: EraserDependencies,
): Promise<EraseTask> {
  const found = await removeUndelivered(mentions(task.erased, (subject) => [partitionOf(subject)]));
  const removed =
    found.removed === 0 ? task.removed : addRemoved(task.removed, { "undelivered changes": found.removed });
  const refused = withRefusal(task.refused, "undelivered changes", found.refused > 0);
  return { ...task, removed, refused, next: "messages" };
}

/**
 * Whether a legal hold prevents an erasure from starting: on its subject, on an account that would be erased
 * with it, or on a user whom an account's records name. A hold doesn't stop an erasure that has started, or
 * one of a subject that was erased before.
 */
async function isHeldBack(task: EraseTask, dependencies: EraserDependencies): Promise<boolean> {
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
