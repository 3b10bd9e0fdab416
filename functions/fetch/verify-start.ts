import { waiting } from "../../domain/core/failures.ts";
import { nameOf } from "../../domain/event/subjects.ts";
import { requestedOf } from "../../domain/fetch/document.ts";
import type { TaskOf } from "../../domain/fetch/tasks.ts";
import type { FetcherDependencies } from "./dependencies.ts";
import { requestStarted } from "./start.ts";

/**
 * Has the endpoints of a start read that no event has announced since: the provider's event may be lost, or it may send
 * none for data that it had already.
 * @returns whether anything was still to be read
 * @throws a failure that waits while the start can still be answered
 */
export async function check(task: TaskOf<"check">, dependencies: FetcherDependencies): Promise<boolean> {
  const { subject, wanted, due, correlationId } = task;
  const { versionedRecords, now, log } = dependencies;
  const state = await versionedRecords.loadState(subject);
  // An account that was disconnected has no data to come; connected again, it has a start of its own.
  if (state?.connected !== true || state.deleted) return false;
  const wait = Math.ceil((Date.parse(due) - now().getTime()) / 1000);
  if (wait > 0) throw waiting("the start can still be answered", wait, 0);
  const documents = await versionedRecords.loadDocuments(subject);
  const unanswered = Object.keys(wanted).filter((name) => requestedOf(documents, name) === wanted[name]);
  for (const endpoint of unanswered) await requestStarted(task, endpoint, dependencies);
  if (unanswered.length === 0) return false;
  log("START_UNANSWERED", { subject: nameOf(subject), correlationId, count: unanswered.length });
  return true;
}
