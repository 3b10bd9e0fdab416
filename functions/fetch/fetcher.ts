import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import type { Call } from "../../adapters/provider/with-token.ts";
import { nameOf } from "../../domain/event/subjects.ts";
import { readTaskText, type Task } from "../../domain/fetch/tasks.ts";
import { oneAtATime } from "../runtime/one-at-a-time.ts";
import { sqsBatch } from "../runtime/sqs-batch.ts";
import type { FetcherDependencies } from "./dependencies.ts";
import { fetchState } from "./fetch-state.ts";
import { postpone } from "./postpone.ts";
import { read } from "./read.ts";
import type { PagesDependencies } from "./read-pages.ts";
import { start } from "./start.ts";
import { check } from "./verify-start.ts";

/** What Lambda says of an invocation. */
type Invocation = Pick<Context, "getRemainingTimeInMillis">;

/** Its calls end in the function's time. */
type TimedDependencies = FetcherDependencies & Pick<PagesDependencies, "inTurn" | "timeLeft">;

/** Does the tasks of the fetch queue: starts data fetches, reads data, asks for states, checks starts. */
export function fetcher(
  dependencies: FetcherDependencies,
): (event: SQSEvent, invocation: Invocation) => Promise<SQSBatchResponse> {
  const inTurn = oneAtATime();
  return (event, invocation) => {
    const timeLeft = () => invocation.getRemainingTimeInMillis() - dependencies.longestRunInMillis;
    const call: Call = (apiCall) => dependencies.call({ ...apiCall, timeLeft });
    const timed = { ...dependencies, call, timeLeft, inTurn };
    return sqsBatch(({ body }) => perform(readTaskText(body), timed), postpone(dependencies))(event);
  };
}

async function perform(task: Task, dependencies: TimedDependencies): Promise<void> {
  const isDone = await dispatch(task, dependencies);
  const { task: name, subject, correlationId } = task;
  dependencies.log(isDone ? "TASK_DONE" : "TASK_VOID", {
    task: name,
    subject: nameOf(subject),
    correlationId,
  });
}

/** @returns whether there was anything to do; false where the task was overtaken */
function dispatch(task: Task, dependencies: TimedDependencies): Promise<boolean> {
  switch (task.task) {
    case "start":
      return start(task, dependencies);
    case "read":
      return read(task, dependencies);
    case "ask":
      return fetchState(task, dependencies);
    case "check":
      return check(task, dependencies);
  }
}
