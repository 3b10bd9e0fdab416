import type { StoredDocument } from "../../adapters/dynamodb/documents.ts";
import { waiting } from "../../domain/core/failures.ts";
import { nameOf } from "../../domain/event/subjects.ts";
import { isVoid } from "../../domain/fetch/coverage.ts";
import type { StateTask } from "../../domain/fetch/task.ts";
import type { Delivered, TaskResult } from "./delivered-tasks.ts";
import type { FetcherDependencies } from "./dependencies.ts";
import { requestDocuments } from "./start-fetch.ts";

/**
 * Has the endpoints of a start read that were not read since: the provider's event may be lost, or it may send none for
 * data that it had already.
 * @throws a failure that waits while the start can still be answered
 */
export async function verifyStart(
  check: Delivered<StateTask>,
  dependencies: FetcherDependencies,
): Promise<TaskResult> {
  const { subject, correlationId } = check.task;
  const { messageId, sentAt: since } = check.delivery;
  const { versionedRecords, documents, readDocuments, startEndpoints, readAfterSeconds, clock, log } =
    dependencies;
  // One request for the checks of a batch.
  const [state, ...whole] = await Promise.all([
    versionedRecords.loadState(subject),
    ...startEndpoints.map((endpoint) => documents.load(subject, { endpoint })),
  ]);
  // An account that was disconnected has no data to come; connected again, it has a start of its own.
  if (state?.connected !== true || state.deleted) return "void";
  const wait = Math.ceil((since - clock()) / 1000 + readAfterSeconds);
  if (wait > 0) throw waiting("the start can still be answered", wait, 0);
  const leftIn = (found: readonly (StoredDocument | undefined)[], endpoints: readonly string[]) => {
    const read = found.flatMap((stored) => stored?.document ?? []);
    const isRead = (name: string) =>
      read.some((document) => document.endpoint === name && isVoid({ messageId, since }, document, clock()));
    return endpoints.filter((name) => !isRead(name));
  };
  const missing = leftIn(whole, startEndpoints);
  // Data of a range of dates, whose documents only the subject's whole partition tells, is an answer too.
  const unanswered = missing.length === 0 ? [] : leftIn(await readDocuments(subject), missing);
  if (unanswered.length === 0) return "void";
  await requestDocuments(check, unanswered, dependencies);
  log("START_UNANSWERED", { subject: nameOf(subject), correlationId, count: unanswered.length });
  return "done";
}
