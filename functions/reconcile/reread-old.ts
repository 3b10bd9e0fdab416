import { FailureError } from "../../domain/core/failures.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { documentTask } from "../../domain/fetch/task.ts";
import { correlationOfRun } from "../../domain/reconcile/reconciliation.ts";
import { fetchTaskMessage } from "../runtime/fetch-task-message.ts";
import type { ReconcilerDependencies } from "./dependencies.ts";

/**
 * Has the documents of an account read again that were read last before the setting's time.
 * @param startedAt of the run, which asks for a document once
 * @returns how many documents are to be read
 * @throws a failure where a task can't be sent
 */
export async function rereadOld(
  subject: Subject,
  startedAt: string,
  { readDocuments, send, queueUrls, settings, now }: ReconcilerDependencies,
): Promise<number> {
  const oldest = now().getTime() - settings.rereadAfterDays * 86_400_000;
  const cause = { cause: `reread.${startedAt}`, correlationId: correlationOfRun(startedAt) };
  const tasks = (await readDocuments(subject))
    .filter(({ document: { asOf } }) => asOf < oldest)
    .map(({ document }) => documentTask(subject, document, oldest, cause));
  if (tasks.length === 0) return 0;
  const failures = await send(queueUrls.fetch, tasks.map(fetchTaskMessage));
  const failed = failures.find((failure) => failure !== undefined);
  if (failed !== undefined) throw new FailureError(failed);
  return tasks.length;
}
