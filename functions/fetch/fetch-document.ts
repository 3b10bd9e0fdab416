import { sizeOf } from "../../adapters/aws/content.ts";
import {
  type Content,
  type DocumentStore,
  type StoredDocument,
  textOfContent,
} from "../../adapters/dynamodb/documents.ts";
import type { ApiAnswer } from "../../adapters/provider/provider-api.ts";
import { failureOf, permanent, retryable, waiting } from "../../domain/core/failures.ts";
import { isFields, optionalBoolean, present } from "../../domain/core/parse.ts";
import { type AttributeExpressions, type Attributes, attributesIn } from "../../domain/event/attributes.ts";
import { parseExact } from "../../domain/event/lossless-json.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import {
  type DeliveredTask,
  isCovered,
  outcomeOfWrite,
  planRead,
  timeBefore,
  type WriteAnswer,
} from "../../domain/fetch/coverage.ts";
import { type Document, documentAfter } from "../../domain/fetch/document.ts";
import { fillPath, type ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import { type DocumentTask, type StateTask, subjectsOf } from "../../domain/fetch/task.ts";
import { daysIn } from "../../domain/readiness/days.ts";
import { endpointOfDays } from "../../domain/readiness/readiness-settings.ts";
import { type Answer, applyProviderAnswer, type State } from "../../domain/state/state.ts";
import type { Delivered, Delivery, FetcherDependencies, TaskResult, TaskRun } from "./delivered-tasks.ts";
import { readPages } from "./read-pages.ts";

/** One of several callers that share a request. */
type Participant = {
  /** Waits until all others have counted down, at most `maxMillis` after the first wait. Works once. */
  readonly wait: (maxMillis: number) => Promise<void>;
  /** Makes the others stop waiting for this caller. Has no effect after `wait`. */
  readonly countDown: () => void;
};

/**
 * Holds fast callers until slower ones are ready, so that they share one request. An invocation lasts as long
 * as its slowest call anyway.
 */
export class CountdownLatch {
  #left: number;
  #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param count number of callers */
  constructor(count: number) {
    this.#left = count;
  }

  /** Adds one of the callers. */
  join(): Participant {
    let isCounted = false;
    const countDown = () => {
      if (isCounted) return;
      isCounted = true;
      this.#left -= 1;
      if (this.#left === 0) this.#release();
    };
    return {
      countDown,
      wait: async (maxMillis) => {
        if (isCounted) return;
        await new Promise<void>((resolve) => {
          this.#waiting.push(resolve);
          this.#timer ??= setTimeout(() => this.#release(), Math.max(0, maxMillis));
          countDown();
        });
      },
    };
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const released = this.#waiting;
    this.#waiting = [];
    for (const resume of released) resume();
  }
}

/**
 * Fetches a state from the provider, because events about it contradict each other.
 * @returns `skipped` if the state has changed since
 */
export async function fetchState(task: StateTask, dependencies: FetcherDependencies): Promise<TaskResult> {
  const { subject, version, correlationId } = task;
  const { client, versionedRecords, provider, attributes, now } = dependencies;
  const known = await versionedRecords.loadState(subject);
  const path = pathOfState(subject, provider);
  if (known?.version !== version || path === undefined) return "skipped";
  const found = await client.call({ method: "GET", path: fillPath(path, subject) });
  const answer = await answerOf(subject, found, attributes);
  const applied = (state: State | undefined) =>
    applyProviderAnswer(state, version, answer, { at: now(), correlationId });
  await versionedRecords.state(subject, applied, known);
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
  const connected = optionalBoolean(isFields(body.data) ? { ...body.data, ...body } : body, "connected");
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

type Task = DeliveredTask & Delivery & { readonly task: DocumentTask };

/**
 * Reads a document and stores it. One call covers all of its open tasks.
 * @param delivered tasks of one document, in the order of their messages
 * @returns the result of each task
 * @throws a failure that applies to all tasks
 */
export async function fetchDocument(
  delivered: readonly Delivered<DocumentTask>[],
  dependencies: FetcherDependencies,
  { timeLeft, pageMutex, untilReady }: TaskRun,
): Promise<readonly TaskResult[]> {
  const { client, provider, documents, keptPages, clock } = dependencies;
  const tasks = delivered.map(({ task, delivery }): Task => ({ task, ...delivery, since: task.since }));
  const [firstTask] = tasks;
  if (firstTask === undefined) return [];
  // Before any read: while the provider is down, a task is retried many times.
  await client.checkReady();
  const { subject } = firstTask.task;
  const [stored, erasedTasks, userId] = await Promise.all([
    documents.load(subject, firstTask.task),
    erasedOf(tasks, dependencies),
    ownerOf(tasks, subject, dependencies),
  ]);
  const now = timeBefore(clock(), tasks);
  const again = tasks.find(({ receives }) => receives > 1);
  const kept = again && (await keptPages.find({ ...firstTask.task, messageId: again.messageId }));
  const plan = planRead(
    tasks.filter((task) => !erasedTasks.has(task)),
    stored?.document,
    { pages: kept?.read, now },
  );
  const results = new Map<Task, TaskResult>(
    [...erasedTasks, ...plan.skipped].map((task) => [task, "skipped"]),
  );
  const [covering] = plan.covered;
  if (covering !== undefined) {
    const of = { ...covering.task, messageId: covering.messageId };
    const { asOf, by, known } = plan;
    const pages = { read: { asOf, by, known }, kept: plan.isResumed ? kept : undefined };
    const content = await readPages({ of, ...pages, client, provider, keptPages, pageMutex, timeLeft });
    const found = content && { ...content, size: sizeOf(content.parts) };
    const task = { ...covering.task, ...present({ userId }) };
    const { readFor, days } = ofAwaited(plan.covered, content, dependencies);
    const updated = documentAfter(stored?.document, { asOf, by, task, readFor }, found, days);
    const written = await save({ stored, updated, content }, documents, untilReady);
    for (const task of [...plan.covered, ...plan.waiting]) {
      results.set(task, resultOf(task, plan.covered.includes(task), written, now));
    }
  }
  return tasks.map((task) => results.get(task) ?? failureOf(retryable("the task was not handled")));
}

/** Fields that are stored only for documents in the `readiness` setting. */
function ofAwaited(
  [first, ...others]: readonly Task[],
  content: Content | undefined,
  { readiness, provider }: FetcherDependencies,
): { readonly readFor?: number; readonly days?: number } {
  if (readiness === undefined || first === undefined) return {};
  const { subject, endpoint, range } = first.task;
  if (subject.kind !== "account" || range !== undefined || !readiness.endpoints.includes(endpoint)) return {};
  const readFor = Math.max(first.since, ...others.map(({ since }) => since));
  const counts = content !== undefined && readiness.minDays !== undefined && endpoint === endpointOfDays;
  return counts ? { readFor, days: daysCovered(content, provider.paging.items) } : { readFor };
}

function daysCovered({ parts, contentType }: Content, items: string): number {
  try {
    return daysIn(textOfContent(parts, contentType), items);
  } catch {
    return 0;
  }
}

/** The document's user, from a task or else from the account's state, read in the batch's request. */
async function ownerOf(
  tasks: readonly Task[],
  subject: Subject,
  { versionedRecords }: FetcherDependencies,
): Promise<string | undefined> {
  const named = tasks.findLast(({ task }) => task.userId !== undefined);
  return named?.task.userId ?? (await versionedRecords.loadState(subject))?.userId;
}

async function erasedOf(
  tasks: readonly Task[],
  { findErased }: FetcherDependencies,
): Promise<ReadonlySet<Task>> {
  const names = await findErased(tasks.flatMap(({ task }) => subjectsOf(task)));
  return new Set(tasks.filter(({ task }) => subjectsOf(task).some((subject) => names.has(nameOf(subject)))));
}

/** The outcome of a write: its error, if any, and the document as stored afterwards. */
type Written = {
  readonly answer: WriteAnswer;
  readonly error?: unknown;
  readonly document: Document | undefined;
};

type NextDocument = {
  readonly stored: StoredDocument | undefined;
  readonly updated: Document;
  readonly content: Content | undefined;
};

async function save(
  { stored, updated, content }: NextDocument,
  documents: DocumentStore,
  untilReady: TaskRun["untilReady"],
): Promise<Written> {
  const reload = async () => (await documents.load(updated.subject, updated))?.document;
  try {
    const outcome = await documents.save(stored, updated, content, untilReady);
    if (outcome === "written") return { answer: "accepted", document: updated };
  } catch (error) {
    // The write may have succeeded despite the error; only the stored document shows it.
    return { answer: "unknown", error, document: await reload() };
  }
  return { answer: "refused", document: await reload() };
}

function resultOf(
  task: Task,
  isTaken: boolean,
  { answer, error, document }: Written,
  now: number,
): TaskResult {
  if (!isTaken) {
    return isCovered(task, document, now)
      ? "skipped"
      : failureOf(waiting("came while its document was read", 1, 0));
  }
  const outcome = outcomeOfWrite(answer, task, document, now);
  if (outcome === "done") return "done";
  return failureOf(error ?? waiting("the document was written by another call", outcome.hideInSeconds, 0));
}
