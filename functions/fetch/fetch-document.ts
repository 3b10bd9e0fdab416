import { sizeOf } from "../../adapters/aws/content.ts";
import {
  type Content,
  type DocumentStore,
  type documentReader,
  type StoredDocument,
  textOfContent,
} from "../../adapters/dynamodb/documents.ts";
import type { ReadinessRecords, VersionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import type { FindErased } from "../../adapters/erasure/find-erased.ts";
import type { ProviderClient } from "../../adapters/provider/provider-client.ts";
import type { batchingSender, messageVisibility } from "../../adapters/sqs/sqs-sender.ts";
import type { mutex } from "../../domain/core/batches.ts";
import { type Failure, failureOf, retryable, waiting } from "../../domain/core/failures.ts";
import { present } from "../../domain/core/parse.ts";
import type { AttributeExpressions } from "../../domain/event/attributes.ts";
import { nameOf, type Subject, withUser } from "../../domain/event/subjects.ts";
import {
  type DeliveredTask,
  type Document,
  daysIn,
  documentAfter,
  isCovered,
  isTooNewToBeCovered,
  planRead,
  timeBefore,
} from "../../domain/fetch/document.ts";
import type { ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import {
  type DocumentTask,
  type FetchTask,
  type giveUpLimits,
  isOfReceipt,
  type RetrySettings,
} from "../../domain/fetch/task.ts";
import { endpointOfDays, type ReadinessSettings } from "../../domain/readiness/readiness.ts";
import type { Log } from "../runtime/log.ts";
import { callFor, type KeptPages, readPages } from "./read-pages.ts";

export type FetcherDependencies = {
  readonly versionedRecords: VersionedRecords;
  readonly documents: DocumentStore;
  readonly readDocuments: ReturnType<typeof documentReader>;
  readonly findErased: FindErased;
  readonly keptPages: KeptPages;
  /** Throws a retryable failure for a call that can't be made now. */
  readonly client: Pick<ProviderClient, "call" | "gate" | "prepare">;
  readonly send: ReturnType<typeof batchingSender>;
  /** Changes the visibility of messages. @returns the failure of each, in order, or undefined */
  readonly changeVisibility: ReturnType<typeof messageVisibility>;
  /** `checks` holds the checks of starts until they are due. */
  readonly queues: Readonly<
    Record<"fetch" | "checks", { readonly url: string; readonly deadLetterUrl: string }>
  >;
  readonly provider: ProviderSettings;
  /** Expressions for attributes in the provider's answer about a user; empty if the settings map none. */
  readonly attributes: AttributeExpressions;
  /** Endpoints to fetch when an account becomes connected. */
  readonly startEndpoints: readonly string[];
  /** Documents that an account needs to be ready; absent if the stage has no `readiness` setting. */
  readonly readiness?:
    | (Pick<ReadinessSettings, "endpoints" | "minDays"> & Pick<ReadinessRecords, "markFailure">)
    | undefined;
  /** Time reserved for the work after the last call. */
  readonly reservedInMillis: number;
  /** How long events may take to answer a start before its endpoints are read anyway. */
  readonly readAfterSeconds: number;
  readonly retrying: {
    readonly retry: RetrySettings;
    readonly limits: ReturnType<typeof giveUpLimits>;
    /** Age at which to give up a task whose data the provider doesn't have ready. */
    readonly longestOutageSeconds: number;
  };
  /** DynamoDB's clock in milliseconds since 1970, for times that must not depend on the function's own clock. */
  readonly clock: () => number;
  /** The function's clock, for the times of the provider's answers in messages. */
  readonly now: () => Date;
  readonly random: () => number;
  readonly log: Log;
};

/** A task's share of the invocation. */
export type TaskRun = {
  /** Milliseconds left for calls. */
  readonly timeLeft: () => number;
  /** Lets one read at a time collect pages; several would not fit in memory. */
  readonly pageMutex: ReturnType<typeof mutex>;
  /** Resolves when the batch's other calls are done, or after a maximum time. */
  readonly untilReady: () => Promise<void>;
};

/**
 * A task with the SQS metadata of its message. Times are milliseconds since 1970. `since` is a document task's own, else
 * SQS's `SentTimestamp`.
 */
export type Delivered<Task extends FetchTask = FetchTask> = DeliveredTask & {
  readonly task: Task;
  readonly receives: number;
};

/** The result of a task: `skipped` if there was nothing left to do. */
export type TaskResult = "done" | "skipped" | Failure;

type Task = Delivered<DocumentTask>;

/**
 * Reads a document and stores it. One call covers all of its open tasks.
 * @param tasks of one document, in the order of their messages
 * @returns the result of each task
 * @throws a failure that applies to all tasks
 */
export async function fetchDocument(
  tasks: readonly Task[],
  dependencies: FetcherDependencies,
  { timeLeft, pageMutex, untilReady }: TaskRun,
): Promise<readonly TaskResult[]> {
  const { client, provider, documents, keptPages, clock } = dependencies;
  const [firstTask] = tasks;
  if (firstTask === undefined) return [];
  // Before any read: while the provider is down, a task is retried many times.
  client.gate();
  const { subject } = firstTask.task;
  const beforeCall = timeBefore(clock(), tasks);
  const ofFirst = { ...firstTask.task, messageId: firstTask.messageId };
  const isEarly = tasks.every(isCalledEarly);
  // This invocation received the tasks, so `beforeCall` is not older than it.
  const early = isEarly ? callFor({ of: ofFirst, client, provider }, { serviceTime: beforeCall }) : undefined;
  const reading = Promise.all([
    documents.load(subject, firstTask.task),
    erasedOf(tasks, dependencies),
    ownerOf(tasks, subject, dependencies),
    client.prepare(),
  ]);
  // Waits for both: no call goes on after its invocation.
  await Promise.allSettled([reading, early]);
  const [stored, erasedTasks, userId] = await reading;
  const now = early ? beforeCall : timeBefore(clock(), tasks);
  const redelivered = tasks.find(({ receives }) => receives > 1);
  const kept = redelivered && (await keptPages.find({ ...firstTask.task, messageId: redelivered.messageId }));
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
    if (early && asOf !== now) throw waiting("the document was read after this call", 2, 0);
    const pages = { read: { asOf, by, known }, kept: plan.isResumed ? kept : undefined };
    const content = await readPages({
      of,
      ...pages,
      early,
      client,
      provider,
      keptPages,
      pageMutex,
      timeLeft,
    });
    const found = content && { ...content, size: sizeOf(content.parts) };
    const task = { ...covering.task, ...present({ userId }) };
    const { readFor, days } = readinessFields(plan.covered, content, dependencies);
    const updated = documentAfter(stored?.document, { asOf, by, task, readFor }, found, days);
    const written = await save({ stored, updated, content }, documents, untilReady);
    for (const task of [...plan.covered, ...plan.waiting]) {
      results.set(task, resultOf(task, plan.covered.includes(task), written, now));
    }
  }
  return tasks.map((task) => results.get(task) ?? failureOf(retryable("the task was not handled")));
}

/** Whether to call before the table is read: nothing can cover the task, and the relay has just read the tombstones. */
function isCalledEarly({ task, ...delivered }: Task): boolean {
  return delivered.receives === 1 && isOfReceipt(task) && isTooNewToBeCovered(delivered);
}

/** Fields that are stored only for documents in the `readiness` setting. */
function readinessFields(
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
  const names = await findErased(tasks.flatMap(({ task }) => withUser(task)));
  return new Set(tasks.filter(({ task }) => withUser(task).some((subject) => names.has(nameOf(subject)))));
}

/** @returns the document as stored after the write, and the write's error, if any */
async function save(
  {
    stored,
    updated,
    content,
  }: {
    readonly stored: StoredDocument | undefined;
    readonly updated: Document;
    readonly content: Content | undefined;
  },
  documents: DocumentStore,
  untilReady: TaskRun["untilReady"],
): Promise<{ readonly document: Document | undefined; readonly error?: unknown }> {
  const reload = async () => (await documents.load(updated.subject, updated))?.document;
  try {
    const outcome = await documents.save(stored, updated, content, untilReady);
    if (outcome === "written") return { document: updated };
  } catch (error) {
    // The write may have succeeded despite the error; only the stored document shows it.
    return { error, document: await reload() };
  }
  return { document: await reload() };
}

/** A task is done only if the stored document covers it, whatever the answer to the write was. */
function resultOf(
  task: Task,
  isTaken: boolean,
  { document, error }: Awaited<ReturnType<typeof save>>,
  now: number,
): TaskResult {
  if (isCovered(task, document, now)) return isTaken ? "done" : "skipped";
  if (!isTaken) return failureOf(waiting("arrived while its document was read", 1, 0));
  return failureOf(error ?? waiting("the document was written by another call", 2, 0));
}
