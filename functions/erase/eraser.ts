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
import { removeDeadLetters } from "./dead-letters.ts";
import type { EraserDependencies, StepDependencies } from "./dependencies.ts";
import { removeGivenUpChanges } from "./given-up-changes.ts";
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
  const next = await perform(task, dependencies);
  const isDone = next === undefined || next.pass > task.pass;
  // The report last: whoever follows it may rely on the second pass.
  if (next !== undefined) await sendNext(next, task, dependencies);
  await keepReport(isDone ? task : next, isDone);
  if (isDone)
    log(task.pass === 1 ? "ERASED" : "ERASED_AGAIN", {
      correlationId: correlationOfErasure(task),
      count: task.erased.length,
    });
}

/** @returns what is to be done next; undefined where all is done */
async function perform(task: EraseTask, dependencies: StepDependencies): Promise<EraseTask | undefined> {
  switch (task.next) {
    case "subjects":
      return markErased(task, dependencies);
    case "records":
      return removeRecords(task, dependencies);
    case "dead letters":
      return removeDeadLetters(task, dependencies);
    case "given-up changes":
      return removeGivenUpChanges(task, dependencies);
    case "messages":
      await announceErasures(task, dependencies);
      return task.pass === 1 ? { ...task, pass: 2, next: "subjects" } : undefined;
  }
}

async function sendNext(
  next: EraseTask,
  { pass }: EraseTask,
  { send, queueUrl, settleSeconds }: StepDependencies,
): Promise<void> {
  const delay = next.pass === pass ? {} : { delayInSeconds: settleSeconds };
  const [failed] = await send(queueUrl, [{ body: writeEraseTask(next), ...delay }]);
  if (failed !== undefined) throw new FailureError(failed);
}
