import { waiting } from "../../domain/core/failures.ts";
import { nameOf } from "../../domain/event/subjects.ts";
import { isVoid } from "../../domain/fetch/coverage.ts";
import type { StartCheck } from "../../domain/fetch/task.ts";
import type { Delivery } from "./delivered-tasks.ts";
import type { FetcherDependencies } from "./dependencies.ts";
import { requestDocuments } from "./start-fetch.ts";
import type { TaskResult } from "./task-result.ts";

/**
 * Has the endpoints of a start read that were not read since: the provider's event may be lost, or it may send none for
 * data that it had already.
 * @throws a failure that waits while the start can still be answered
 */
export async function verifyStart(
  check: { readonly task: StartCheck; readonly delivery: Delivery },
  dependencies: FetcherDependencies,
): Promise<TaskResult> {
  const { subject, correlationId } = check.task;
  const { messageId, sentAt: since } = check.delivery;
  const { versionedRecords, readDocuments, startEndpoints, readAfterSeconds, clock, log } = dependencies;
  const state = await versionedRecords.loadState(subject);
  // An account that was disconnected has no data to come; connected again, it has a start of its own.
  if (state?.connected !== true || state.deleted) return "void";
  const wait = Math.ceil((since - clock()) / 1000 + readAfterSeconds);
  if (wait > 0) throw waiting("the start can still be answered", wait, 0);
  const documents = await readDocuments(subject);
  const isRead = (name: string) =>
    documents.some(
      ({ document }) => document.endpoint === name && isVoid({ messageId, since }, document, clock()),
    );
  const unanswered = startEndpoints.filter((endpoint) => !isRead(endpoint));
  if (unanswered.length === 0) return "void";
  await requestDocuments(check, unanswered, dependencies);
  log("START_UNANSWERED", { subject: nameOf(subject), correlationId, count: unanswered.length });
  return "done";
}
