import type { StoredDocument } from "../../adapters/dynamodb/documents.ts";
import { type Failure, FailureError, failureOf, permanent, waiting } from "../../domain/core/failures.ts";
import { isFields, present } from "../../domain/core/parse.ts";
import { type AttributeExpressions, attributesIn } from "../../domain/event/attributes.ts";
import type { Attributes } from "../../domain/event/events.ts";
import { parseExact } from "../../domain/event/lossless-json.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import type { ApiAnswer } from "../../domain/fetch/answer.ts";
import { isCovered, timeBefore } from "../../domain/fetch/document.ts";
import { fillBody, fillPath, isReadAs, type ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import {
  documentTask,
  type FetchTask,
  fetchTaskMessage,
  type StateTask,
  writeTask,
} from "../../domain/fetch/task.ts";
import { type Answer, applyProviderAnswer, connectedIn, type State } from "../../domain/state/state.ts";
import type { Delivered, FetcherDependencies, TaskResult, TaskRun } from "./fetch-document.ts";

/** SQS delays a message by at most 15 minutes. */
const longestDelayInSeconds = 900;

/**
 * Starts a data fetch for an account that became connected, and schedules a check that events answered it. If
 * the settings have no path to start a fetch, its endpoints are read immediately.
 * @returns `skipped` also if the account is unknown
 */
export async function startFetch(
  delivered: Delivered<StateTask>,
  dependencies: FetcherDependencies,
  { untilReady }: TaskRun,
): Promise<TaskResult> {
  const { task } = delivered;
  const { subject } = task;
  const { client, provider, startEndpoints, versionedRecords, findErased } = dependencies;
  // An erased account has no state; nothing is fetched for it.
  const [state, erased] = await Promise.all([
    versionedRecords.loadState(subject),
    findErased([subject]),
    client.prepare(),
  ]);
  if (state === undefined || erased.size > 0) return "skipped";
  const fetchStart = provider.paths.start;
  if (fetchStart === undefined || subject.kind !== "account") {
    const endpoints = startEndpoints.filter((endpoint) => isReadAs(provider, subject, { endpoint }));
    await requestDocuments(delivered, endpoints, dependencies);
    return "skipped";
  }
  const body = fetchStart.body === undefined ? undefined : fillBody(fetchStart.body, subject, startEndpoints);
  const path = fillPath(fetchStart.path, subject);
  await client.call({ method: fetchStart.method, path, body, expects: "acceptance" }).catch(ignoreConflict);
  // Also if the provider does not know the account: its webhook can be ahead of what its API reads.
  await sendCheck({ ...task, type: "verifyStart" }, dependencies, untilReady);
  return "done";
}

/** Requests documents of an account, unless they were read after SQS received the task's message. */
export async function requestDocuments(
  { task, messageId, since }: Delivered<StateTask>,
  endpoints: readonly string[],
  { send, queues }: FetcherDependencies,
): Promise<void> {
  const { subject, version, correlationId, userId } = task;
  if (endpoints.length === 0) return;
  // With the message id, SQS doesn't drop a later request with a newer `since` as a duplicate.
  const cause = { cause: `start.${version}.${messageId}`, correlationId, userId };
  const tasks = endpoints.map((endpoint) => documentTask(subject, { endpoint }, since, cause));
  assertSent(await send(queues.fetch.url, tasks.map(fetchTaskMessage)));
}

/** 409: the account is no longer connected, or a fetch is already running. The check finds out which. */
function ignoreConflict(error: unknown): void {
  const failure = failureOf(error);
  if (failure.type !== "permanent" || failure.status !== 409) throw error;
}

/** @param untilReady makes the checks of a batch wait for each other, so that one request sends them */
async function sendCheck(
  check: FetchTask,
  { send, queues, readAfterSeconds }: FetcherDependencies,
  untilReady: TaskRun["untilReady"],
): Promise<void> {
  const delayInSeconds = Math.min(longestDelayInSeconds, Math.ceil(readAfterSeconds));
  assertSent(await send(queues.checks.url, [{ body: writeTask(check), delayInSeconds }], untilReady));
}

/** @throws if any message is not sent. The retried task sends all of them again, so that none is lost. */
function assertSent(outcomes: readonly (Failure | undefined)[]): void {
  const failed = outcomes.find((failure) => failure !== undefined);
  if (failed !== undefined) throw new FailureError(failed);
}

/**
 * Requests the endpoints of a start that were not read since. The provider's event may be lost, or it may
 * send none for data that it already had. Endpoints that are read by range are only logged: no event named a
 * range.
 * @throws a waiting failure while the start can still be answered
 */
export async function verifyStart(
  check: Delivered<StateTask>,
  dependencies: FetcherDependencies,
): Promise<TaskResult> {
  const { subject, correlationId } = check.task;
  const { messageId, since, firstReceivedAt, receives } = check;
  const { versionedRecords, documents, provider, readDocuments, startEndpoints, clock, log } = dependencies;
  const waitUntilDue = (now: number) => {
    const wait = Math.ceil((since - now) / 1000 + dependencies.readAfterSeconds);
    // DynamoDB's clock shows whole seconds.
    if (wait > 0) throw waiting("the start can still be answered", wait + 1, 0);
  };
  // SQS's longest delay may end before the check is due, which SQS's own times show without a read.
  if (receives === 1) waitUntilDue(firstReceivedAt);
  // The checks of a batch share one request.
  const [state, ...unranged] = await Promise.all([
    versionedRecords.loadState(subject),
    ...startEndpoints.map((endpoint) => documents.load(subject, { endpoint })),
  ]);
  // A disconnected account has no data to come; a new connection has its own start.
  if (state?.connected !== true || state.deleted) return "skipped";
  waitUntilDue(timeBefore(clock(), [check]));
  const leftIn = (found: readonly (StoredDocument | undefined)[], endpoints: readonly string[]) => {
    const read = found.flatMap((stored) => stored?.document ?? []);
    const isRead = (name: string) =>
      read.some(
        (document) => document.endpoint === name && isCovered({ messageId, since }, document, clock()),
      );
    return endpoints.filter((name) => !isRead(name));
  };
  const missing = leftIn(unranged, startEndpoints);
  // Documents of date ranges count as answers, too; only the subject's whole partition shows them.
  const unanswered = missing.length === 0 ? [] : leftIn(await readDocuments(subject), missing);
  if (unanswered.length === 0) return "skipped";
  const readable = unanswered.filter((endpoint) => isReadAs(provider, subject, { endpoint }));
  await requestDocuments(check, readable, dependencies);
  log("START_UNANSWERED", { subject, correlationId, count: unanswered.length });
  return "done";
}

/**
 * Fetches a state from the provider, because events about it contradict each other.
 * @returns `skipped` if the state has changed since
 */
export async function fetchState(task: StateTask, dependencies: FetcherDependencies): Promise<TaskResult> {
  const { subject, version, correlationId } = task;
  const { client, versionedRecords, provider, attributes, now } = dependencies;
  const [stored] = await Promise.all([versionedRecords.loadState(subject), client.prepare()]);
  const path = pathOfState(subject, provider);
  if (stored?.version !== version || path === undefined) return "skipped";
  const found = await client.call({ method: "GET", path: fillPath(path, subject) });
  const answer = await answerOf(subject, found, attributes);
  const applied = (state: State | undefined) =>
    applyProviderAnswer(state, version, answer, { at: now(), correlationId });
  await versionedRecords.reviseState(subject, applied, stored);
  return "done";
}

function pathOfState(subject: Subject, { paths }: ProviderSettings): string | undefined {
  switch (subject.kind) {
    case "user":
      return paths.user;
    case "account":
      return paths.account;
    case "company-account":
      return paths.companyAccount;
  }
}

/** Reads `connected` at the top level or under `data`. A user may have none: being found is enough. */
async function answerOf(
  subject: Subject,
  answer: ApiAnswer,
  expressions: AttributeExpressions,
): Promise<Answer> {
  if (!answer.found) return { found: false };
  const body = parseExact(answer.text, "the provider's answer");
  if (!isFields(body)) throw permanent("the provider's answer: expected an object");
  const connected = connectedIn(body);
  if (subject.kind === "user") {
    const attributes = await attributesOf(subject, body, expressions);
    return { found: true, ...present({ connected, attributes }) };
  }
  if (connected !== undefined) return { found: true, connected };
  throw permanent("the provider's answer: no connected; see provider.paths.account and companyAccount");
}

async function attributesOf(
  { id }: Subject,
  body: unknown,
  expressions: AttributeExpressions,
): Promise<Attributes | undefined> {
  if (Object.keys(expressions).length === 0) return undefined;
  const { jmespathSearch } = await import("#lazy/jmespath");
  return attributesIn(expressions, body, id, jmespathSearch).attributes;
}
