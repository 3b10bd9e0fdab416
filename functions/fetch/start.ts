import type { ApiAnswer } from "../../adapters/provider/provider-api.ts";
import { FailureError, failureOf } from "../../domain/core/failures.ts";
import { requestedOf, requestFetchFor } from "../../domain/fetch/document.ts";
import { fillBody, fillPath } from "../../domain/fetch/provider-settings.ts";
import { type Task, type TaskOf, verifyStartTask, writeTask } from "../../domain/fetch/tasks.ts";
import type { FetcherDependencies } from "./dependencies.ts";

/** SQS: a message is delayed at most 15 minutes. */
const longestDelayInSeconds = 900;

/**
 * Starts a data fetch for an account that became connected, and has it checked later that events answered; where the
 * settings know no way to start, its endpoints are read straight away.
 * @returns whether the provider was called; false, too, where nothing is known of the account any more
 */
export async function start(task: TaskOf<"start">, dependencies: FetcherDependencies): Promise<boolean> {
  const { subject, version, correlationId } = task;
  const { call, provider, startEndpoints, versionedRecords } = dependencies;
  // Who was erased since has no state: nothing is called for, and nothing wanted.
  if ((await versionedRecords.loadState(subject)) === undefined) return false;
  const fetchStart = provider.paths.start;
  if (fetchStart === undefined || subject.kind !== "account") {
    for (const endpoint of startEndpoints) await requestStarted(task, endpoint, dependencies);
    return false;
  }
  // Before the call: an event can answer before the call itself does.
  const documents = await versionedRecords.loadDocuments(subject);
  const body = fetchStart.body === undefined ? undefined : fillBody(fetchStart.body, subject, startEndpoints);
  const path = fillPath(fetchStart.path, subject);
  const answer = await call({ method: fetchStart.method, path, body }).catch(asStarted);
  // An account that the provider does not know has no data to fetch: 404 and 410 end the task.
  if (!answer.found) return true;
  const requested = startEndpoints.map((endpoint) => [endpoint, requestedOf(documents, endpoint)] as const);
  const { now, readAfterSeconds } = dependencies;
  const due = new Date(now().getTime() + readAfterSeconds * 1000);
  const check = verifyStartTask(subject, version, Object.fromEntries(requested), { due, correlationId });
  await sendLater(check, dependencies);
  return true;
}

/** Wants an endpoint of an account that became connected with a version of its state, once. */
export async function requestStarted(
  { subject, version, correlationId }: TaskOf<"start" | "check">,
  endpoint: string,
  { versionedRecords }: Pick<FetcherDependencies, "versionedRecords">,
): Promise<void> {
  const mark = `start.${version}`;
  await versionedRecords.document(subject, { endpoint }, (known) =>
    requestFetchFor(known, subject, { endpoint }, { key: mark, correlationId }),
  );
}

/**
 * 409 says that the account is not connected any more, or that a fetch of it runs already: nothing to start, and
 * nothing wrong with the task. The check finds out which.
 */
function asStarted(error: unknown): ApiAnswer {
  const failure = failureOf(error);
  if (failure.kind === "permanent" && failure.status === 409) return { found: true, text: "" };
  throw error;
}

async function sendLater(
  task: Task,
  { send, queueUrl, readAfterSeconds }: FetcherDependencies,
): Promise<void> {
  const delayInSeconds = Math.min(longestDelayInSeconds, Math.ceil(readAfterSeconds));
  const [failed] = await send(queueUrl, [{ body: writeTask(task), delayInSeconds }]);
  // The task comes again, and starts once more: better than a start that nobody checks.
  if (failed !== undefined) throw new FailureError(failed);
}
