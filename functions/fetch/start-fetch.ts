import type { StoredDocument } from "../../adapters/dynamodb/documents.ts";
import { type Failure, FailureError, failureOf, waiting } from "../../domain/core/failures.ts";
import { nameOf } from "../../domain/event/subjects.ts";
import { isCovered } from "../../domain/fetch/coverage.ts";
import { fillBody, fillPath, isReadAs } from "../../domain/fetch/provider-settings.ts";
import { documentTask, type FetchTask, type StateTask, writeTask } from "../../domain/fetch/task.ts";
import { fetchTaskMessage } from "../runtime/fetch-task-message.ts";
import type { Delivered, TaskResult } from "./delivered-tasks.ts";
import type { FetcherDependencies } from "./dependencies.ts";
import type { DocumentDependencies } from "./fetch-document.ts";

/** SQS: a message is delayed at most 15 minutes. */
const longestDelayInSeconds = 900;

/** A batch's checks wait for each other, to be sent with one request. */
type StartDependencies = FetcherDependencies & Pick<DocumentDependencies, "untilReady">;

/**
 * Starts a data fetch for an account that became connected, and has it verified later that events answered; where the
 * settings know no way to start, its endpoints are read straight away.
 * @returns `skipped`, too, where nothing is known of the account any more
 */
export async function startFetch(
  { task, delivery }: Delivered<StateTask>,
  dependencies: StartDependencies,
): Promise<TaskResult> {
  const { subject } = task;
  const { client, provider, startEndpoints, versionedRecords, findErased } = dependencies;
  // Who was erased since has no state: nothing is called for, and nothing wanted.
  const [state, erased] = await Promise.all([versionedRecords.loadState(subject), findErased([subject])]);
  if (state === undefined || erased.size > 0) return "skipped";
  const fetchStart = provider.paths.start;
  if (fetchStart === undefined || subject.kind !== "account") {
    const whole = startEndpoints.filter((endpoint) => isReadAs(provider, subject, { endpoint }));
    await requestDocuments({ task, delivery }, whole, dependencies);
    return "skipped";
  }
  const body = fetchStart.body === undefined ? undefined : fillBody(fetchStart.body, subject, startEndpoints);
  const path = fillPath(fetchStart.path, subject);
  const start = client.call({ method: fetchStart.method, path, body, expects: "acceptance" });
  // An account that the provider does not know has no data to fetch: 404 and 410 end the task.
  if (await start.then(({ found }) => found, asStarted))
    await sendCheck({ ...task, type: "verifyStart" }, dependencies);
  return "done";
}

/** Has documents of an account read that were not read since SQS took the message which leads to it. */
export async function requestDocuments(
  { task, delivery }: Delivered<StateTask>,
  endpoints: readonly string[],
  { send, queues }: Pick<FetcherDependencies, "send" | "queues">,
): Promise<void> {
  const { subject, version, correlationId, userId } = task;
  if (endpoints.length === 0) return;
  // The message is named, so that SQS drops none of later `since` for one that it took before.
  const cause = { cause: `start.${version}.${delivery.messageId}`, correlationId, userId };
  const tasks = endpoints.map((endpoint) => documentTask(subject, { endpoint }, delivery.sentAt, cause));
  assertSent(await send(queues.fetch.url, tasks.map(fetchTaskMessage)));
}

/**
 * 409 says that the account is not connected any more, or that a fetch of it runs already: nothing to start, and
 * nothing wrong with the task. The check finds out which.
 */
function asStarted(error: unknown): true {
  const failure = failureOf(error);
  if (failure.type === "permanent" && failure.status === 409) return true;
  throw error;
}

async function sendCheck(
  check: FetchTask,
  { send, queues, readAfterSeconds, untilReady }: StartDependencies,
): Promise<void> {
  const delayInSeconds = Math.min(longestDelayInSeconds, Math.ceil(readAfterSeconds));
  assertSent(await send(queues.checks.url, [{ body: writeTask(check), delayInSeconds }], untilReady));
}

/** @throws where one is not sent: the task comes again and sends all once more, which is better than that one is lost */
function assertSent(outcomes: readonly (Failure | undefined)[]): void {
  const failed = outcomes.find((failure) => failure !== undefined);
  if (failed !== undefined) throw new FailureError(failed);
}

/**
 * Has the endpoints of a start read that were not read since: the provider's event may be lost, or it may send none for
 * data that it had already. An endpoint that is read by ranges is only logged: no event named a range to read.
 * @throws a failure that waits while the start can still be answered
 */
export async function verifyStart(
  check: Delivered<StateTask>,
  dependencies: FetcherDependencies,
): Promise<TaskResult> {
  const { subject, correlationId } = check.task;
  const { messageId, sentAt: since } = check.delivery;
  const {
    versionedRecords,
    documents,
    provider,
    readDocuments,
    startEndpoints,
    readAfterSeconds,
    clock,
    log,
  } = dependencies;
  // One request for the checks of a batch.
  const [state, ...whole] = await Promise.all([
    versionedRecords.loadState(subject),
    ...startEndpoints.map((endpoint) => documents.load(subject, { endpoint })),
  ]);
  // An account that was disconnected has no data to come; connected again, it has a start of its own.
  if (state?.connected !== true || state.deleted) return "skipped";
  const wait = Math.ceil((since - clock()) / 1000 + readAfterSeconds);
  if (wait > 0) throw waiting("the start can still be answered", wait, 0);
  const leftIn = (found: readonly (StoredDocument | undefined)[], endpoints: readonly string[]) => {
    const read = found.flatMap((stored) => stored?.document ?? []);
    const isRead = (name: string) =>
      read.some(
        (document) => document.endpoint === name && isCovered({ messageId, since }, document, clock()),
      );
    return endpoints.filter((name) => !isRead(name));
  };
  const missing = leftIn(whole, startEndpoints);
  // Data of a range of dates, whose documents only the subject's whole partition tells, is an answer too.
  const unanswered = missing.length === 0 ? [] : leftIn(await readDocuments(subject), missing);
  if (unanswered.length === 0) return "skipped";
  const readable = unanswered.filter((endpoint) => isReadAs(provider, subject, { endpoint }));
  await requestDocuments(check, readable, dependencies);
  log("START_UNANSWERED", { subject: nameOf(subject), correlationId, count: unanswered.length });
  return "done";
}
