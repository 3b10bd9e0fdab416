import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { nameOf } from "../../domain/subjects.ts";
import { readTaskText, type Task } from "../../domain/tasks.ts";
import { sqsBatch } from "../runtime/sqs-batch.ts";
import { ask } from "./ask.ts";
import type { FetcherDependencies } from "./dependencies.ts";
import { postpone } from "./postpone.ts";
import { read } from "./read.ts";
import { start } from "./start.ts";

/** Does the tasks of the fetch queue: starts data fetches, reads data, asks for states. */
export function fetcher(dependencies: FetcherDependencies): (event: SQSEvent) => Promise<SQSBatchResponse> {
  return sqsBatch(({ body }) => perform(readTaskText(body), dependencies), postpone(dependencies));
}

async function perform(task: Task, dependencies: FetcherDependencies): Promise<void> {
  const isDone = await dispatch(task, dependencies);
  dependencies.log(isDone ? "TASK_DONE" : "TASK_VOID", { task: task.task, subject: nameOf(task.subject) });
}

/** @returns whether the provider was called; false where the task was overtaken */
function dispatch(task: Task, dependencies: FetcherDependencies): Promise<boolean> {
  switch (task.task) {
    case "start":
      return start(task, dependencies);
    case "read":
      return read(task, dependencies);
    case "ask":
      return ask(task, dependencies);
  }
}
