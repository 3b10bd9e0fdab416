import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import { FailureError } from "../../domain/core/failures.ts";
import {
  correlationOfErasure,
  type EraseTask,
  readEraseTask,
  writeEraseTask,
} from "../../domain/recovery/erasure.ts";
import { rejectPermanent, sqsBatch } from "../runtime/sqs-batch.ts";
import { announceErasures } from "./announce-erasures.ts";
import { removeBodies } from "./bodies.ts";
import { removeDeadLetters } from "./dead-letters.ts";
import type { EraserDependencies, NextStep, StepDependencies } from "./dependencies.ts";
import { dryRun } from "./dry-run.ts";
import { removeGivenUpChanges } from "./given-up-changes.ts";
import { isHeldBack } from "./legal-hold.ts";
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
    return sqsBatch(({ body }) => goOn(readEraseTask(body), timed), handleFailures)(event);
  };
}

async function goOn(task: EraseTask, dependencies: StepDependencies): Promise<void> {
  const { keepReport, log } = dependencies;
  if (await isHeldBack(task, dependencies)) {
    log("ERASURE_HELD", { correlationId: correlationOfErasure(task) });
    return keepReport(task, true, true);
  }
  const next = await perform(task, task.isDryRun ? dryRun(dependencies) : dependencies);
  const isDone = next === undefined || next.task.pass > task.pass;
  // The report last: whoever follows it may rely on the second pass.
  if (next !== undefined) await sendNext(next, dependencies);
  await keepReport(isDone ? task : next.task, isDone);
  if (isDone && task.isFound && !task.isDryRun)
    log(task.pass === 1 ? "ERASED" : "ERASED_AGAIN", {
      correlationId: correlationOfErasure(task),
      count: task.erased.length,
    });
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
    case "given-up changes":
      return atOnce(await removeGivenUpChanges(task, dependencies));
    case "messages":
      if (task.isDryRun) return undefined;
      if (!task.isFound) {
        // Only now it is known that there is somebody: marked, and all is looked through again.
        if (Object.keys(task.removed).length === 0) return undefined;
        return atOnce({ ...task, isFound: true, next: "subjects" });
      }
      await announceErasures(task, dependencies);
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
