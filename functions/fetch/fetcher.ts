import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import type { Permit } from "../../adapters/call-window.ts";
import { contentOf, type StoreContent } from "../../adapters/content-store.ts";
import type { ApiAnswer, ApiCall, Call } from "../../adapters/provider-api.ts";
import type { Revisions } from "../../adapters/revisions.ts";
import type { Send } from "../../adapters/sqs-sender.ts";
import { fetched, wantFor } from "../../domain/data-set.ts";
import { permanent } from "../../domain/failures.ts";
import { isFields, optionalBoolean, parseJson } from "../../domain/parse.ts";
import { fillBody, fillPath, type ProviderSettings } from "../../domain/provider-settings.ts";
import { delayInSeconds, type RetrySettings } from "../../domain/retry.ts";
import { type Answer, settle } from "../../domain/state.ts";
import { nameOf, type Subject } from "../../domain/subjects.ts";
import { readTaskText, type Task, writeTask } from "../../domain/tasks.ts";
import type { Log } from "../runtime/log.ts";
import { deadLetter, type Settle, sqsBatch } from "../runtime/sqs-batch.ts";

export type FetcherDependencies = {
  readonly revisions: Revisions;
  readonly storeContent: StoreContent;
  readonly call: Call;
  readonly permit: Permit;
  readonly send: Send;
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
  readonly provider: ProviderSettings;
  /** What is fetched when an account becomes connected. */
  readonly startEndpoints: readonly string[];
  readonly retry: RetrySettings;
  readonly now: () => Date;
  readonly random: () => number;
  readonly log: Log;
};

type Of<Name extends Task["task"]> = Extract<Task, { task: Name }>;

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

async function start(task: Of<"start">, dependencies: FetcherDependencies): Promise<boolean> {
  const { subject, version } = task;
  const { provider, startEndpoints, revisions } = dependencies;
  const call = provider.paths.start;
  if (call === undefined || subject.kind !== "account") {
    const mark = `start.${version}`;
    for (const endpoint of startEndpoints) {
      await revisions.dataSet(subject, endpoint, (known) => wantFor(known, subject, endpoint, mark));
    }
    return false;
  }
  // An account that the provider does not know has no data to fetch: 404 and 410 end the task.
  const body = call.body === undefined ? undefined : fillBody(call.body, subject, startEndpoints);
  await paced(dependencies, { method: call.method, path: fillPath(call.path, subject), body });
  return true;
}

async function read(task: Of<"read">, dependencies: FetcherDependencies): Promise<boolean> {
  const { subject, endpoint } = task;
  const { revisions, storeContent, provider, now } = dependencies;
  const known = await revisions.loadDataSet(subject, endpoint);
  if (known === undefined || task.wanted <= known.done) return false;
  const { wanted } = known;
  const template = subject.kind === "account" ? provider.paths.read : provider.paths.readCompany;
  const answer = await paced(dependencies, { method: "GET", path: fillPath(template, subject, endpoint) });
  const content = answer.found ? contentOf(jsonOf(answer.text)) : undefined;
  // The data first, what is known of it after: a crash between the two fetches again, and forgets nothing. Stored
  // even where the digest is known already: a slower fetch may have put older data there since it was noted.
  await storeContent(subject, endpoint, wanted, content);
  await revisions.dataSet(subject, endpoint, (current) =>
    current === undefined ? undefined : fetched(current, wanted, content?.digest, now()),
  );
  return true;
}

async function ask(task: Of<"ask">, dependencies: FetcherDependencies): Promise<boolean> {
  const { subject, version } = task;
  const { revisions, provider, now } = dependencies;
  const known = await revisions.loadState(subject);
  const path = pathOfState(subject, provider);
  if (known?.version !== version || path === undefined) return false;
  const answer = await paced(dependencies, { method: "GET", path: fillPath(path, subject) });
  await revisions.state(subject, (state) => settle(state, version, answerOf(subject, answer), now()));
  return true;
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

async function paced({ permit, call }: FetcherDependencies, apiCall: ApiCall): Promise<ApiAnswer> {
  await permit();
  return call(apiCall);
}

function jsonOf(text: string): string {
  parseJson(text, "the provider's answer");
  return text;
}

/** The state's `connected` may stand at the top or under `data`. A user has none: that it is found is the answer. */
function answerOf(subject: Subject, answer: ApiAnswer): Answer {
  if (!answer.found) return { found: false };
  const body = parseJson(answer.text, "the provider's answer");
  if (!isFields(body)) throw permanent("the provider's answer: expected an object");
  const connected = optionalBoolean(isFields(body.data) ? { ...body.data, ...body } : body, "connected");
  if (connected !== undefined) return { found: true, connected };
  if (subject.kind === "user") return { found: true };
  throw permanent("the provider's answer: no connected; see provider.paths.account and companyAccount");
}

/** SQS: a message is delayed at most 15 minutes. */
const longestDelayInSeconds = 900;

/**
 * Settles a task that failed: sent again with a delay and its attempts counted, so that waiting uses up neither
 * the receive count nor the messages in flight; given up into the dead-letter queue with its reason. A task that
 * waits for a token or for the next window is never given up.
 */
function postpone({ send, queueUrl, deadLetterQueueUrl, retry, random, log }: FetcherDependencies): Settle {
  const giveUp = deadLetter(send, deadLetterQueueUrl, log);
  return async (record, failure) => {
    const { messageId } = record;
    if (failure.kind === "permanent") return giveUp(record, failure.reason);
    const task = readTaskText(record.body);
    const attempts = task.attempts + (failure.isWaiting === true ? 0 : 1);
    if (attempts >= retry.maxAttempts) {
      // Redriven, it begins anew.
      const body = writeTask({ ...task, attempts: 0 });
      return giveUp({ ...record, body }, `${failure.reason}, ${attempts} times`);
    }
    const delay = Math.min(longestDelayInSeconds, delayInSeconds(failure, task.attempts, retry, random()));
    const [failed] = await send(queueUrl, [
      { body: writeTask({ ...task, attempts }), delayInSeconds: delay },
    ]);
    if (failed === undefined) {
      log("TASK_POSTPONED", { messageId, reason: failure.reason, attempts, delayInSeconds: delay });
    } else log("MESSAGE_FAILED", { messageId, reason: failed.reason });
    return failed === undefined;
  };
}
