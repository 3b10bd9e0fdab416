import { type Parts, sizeOf } from "../../adapters/aws/content.ts";
import {
  type Content,
  contentOf,
  type DocumentStore,
  type StoredDocument,
  textOfContent,
} from "../../adapters/dynamodb/documents.ts";
import type { ApiCall } from "../../adapters/provider/provider-api.ts";
import type { ProviderClient } from "../../adapters/provider/provider-client.ts";
import type { KeptPages, PagesOf, PartialList } from "../../adapters/s3/overflow-bucket.ts";
import { failureOf, permanent, retryable, waiting } from "../../domain/core/failures.ts";
import type { Mutex } from "../../domain/core/mutex.ts";
import { present } from "../../domain/core/parse.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import type { GivenData } from "../../domain/fetch/answer.ts";
import {
  type DeliveredTask,
  isCovered,
  isTooNewToBeCovered,
  planRead,
  type ReadInPages,
  timeBefore,
} from "../../domain/fetch/coverage.ts";
import { type Document, daysIn, documentAfter } from "../../domain/fetch/document.ts";
import { type Continuation, itemsIn, type Page, pageCall, readPage } from "../../domain/fetch/paging.ts";
import {
  longestCallInSeconds,
  type ProviderSettings,
  readPath,
} from "../../domain/fetch/provider-settings.ts";
import { type DocumentTask, isOfReceipt, subjectsOf } from "../../domain/fetch/task.ts";
import { endpointOfDays } from "../../domain/readiness/readiness.ts";
import type { Delivered, Delivery, FetcherDependencies, TaskResult, TaskRun } from "./delivered-tasks.ts";

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
  client.gate();
  const { subject } = firstTask.task;
  const beforeCall = timeBefore(clock(), tasks);
  const ofFirst = { ...firstTask.task, messageId: firstTask.messageId };
  const isEarly = tasks.every(isCalledEarly);
  // The tasks were received for this invocation, so `beforeCall` is of this invocation, too.
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
    const { readFor, days } = ofAwaited(plan.covered, content, dependencies);
    const updated = documentAfter(stored?.document, { asOf, by, task, readFor }, found, days);
    const written = await save({ stored, updated, content }, documents, untilReady);
    for (const task of [...plan.covered, ...plan.waiting]) {
      results.set(task, resultOf(task, plan.covered.includes(task), written, now));
    }
  }
  return tasks.map((task) => results.get(task) ?? failureOf(retryable("the task was not handled")));
}

/** Whether a call need not wait for the table: nothing can cover the task, and the relay has just read the tombstones. */
function isCalledEarly({ task, ...delivered }: Task): boolean {
  return delivered.receives === 1 && isOfReceipt(task) && isTooNewToBeCovered(delivered);
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
  if (!isTaken) return failureOf(waiting("came while its document was read", 1, 0));
  return failureOf(error ?? waiting("the document was written by another call", 2, 0));
}

/** A document to read for a message's task. */
export type Reading = {
  readonly of: PagesOf;
  /** The call for the first page, if it is already on its way. */
  readonly early?: Promise<GivenData | undefined> | undefined;
  readonly read: ReadInPages;
  /** Pages that an earlier run read, to continue from. */
  readonly kept: PartialList | undefined;
  readonly client: Pick<ProviderClient, "call">;
  readonly provider: Pick<ProviderSettings, "paths" | "paging" | "timeouts" | "maxDataBytes">;
  readonly keptPages: KeptPages;
  /** Lets one read at a time collect pages; several would not fit in memory. */
  readonly pageMutex: Mutex;
  /** Milliseconds left for calls. */
  readonly timeLeft: () => number;
};

/** The part of a list that was read so far. */
type List = Pick<PartialList, "from" | "items">;

/**
 * Reads a document. If it has several pages, returns the last page with the items of all pages, in UTF-8. A
 * single page is returned byte for byte.
 * @returns undefined if the provider has no such document
 * @throws a failure if a page fails or the time is over; the pages read so far are kept
 */
export async function readPages(reading: Reading): Promise<Content | undefined> {
  const { kept, pageMutex, provider } = reading;
  if (kept !== undefined) {
    return pageMutex(async (hasWaited) => {
      // Without a wait, a run reads at least one page, however little time is left.
      if (hasWaited) await checkTime(kept, reading);
      return follow(kept, reading);
    });
  }
  const data = await (reading.early ?? callFor(reading));
  if (data === undefined) return undefined;
  const { text } = data;
  const page = readPage(text, provider.paging);
  const { next: from } = page;
  if (from === undefined) return contentOf([data.bytes], data.contentType);
  const list = { from, items: itemsOf(text, page) };
  return pageMutex(async () => {
    await checkTime(list, reading);
    return follow(list, reading);
  });
}

async function follow(begun: List, reading: Reading): Promise<Content> {
  const { paging, maxDataBytes } = reading.provider;
  for (let list = begun; ; await checkTime(list, reading)) {
    const { text } = await nextPage(list, reading);
    const page = readPage(text, paging, list.from);
    const items = [...list.items, ...itemsOf(text, page)];
    if (sizeOf(items) > maxDataBytes) {
      throw permanent(`the data is over ${maxDataBytes} bytes; see provider.maxDataBytes`);
    }
    if (page.next === undefined) return contentOf(inOnePage(text, page, items));
    list = { from: page.next, items };
  }
}

/** @throws if another call might not end in time; the next run continues */
async function checkTime(list: List, reading: Reading): Promise<void> {
  if (reading.timeLeft() >= longestCallInSeconds(reading.provider) * 1000) return;
  await keep(list, reading);
  throw waiting("more pages are left", 0);
}

async function nextPage(list: List, reading: Reading): Promise<GivenData> {
  try {
    const data = await callFor(reading, { from: list.from });
    if (data !== undefined) return data;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.type === "retryable") {
      await keep(list, reading);
      throw error;
    }
    if (failure.status !== 400) throw error;
  }
  // Cursors expire, and their pages can disappear: read the list from its first page again.
  await reading.keptPages.forget(reading.of);
  throw retryable("the provider does not go on with its pages");
}

async function callFor(
  { of, client, provider }: Pick<Reading, "of" | "client" | "provider">,
  { from, ...time }: Pick<ApiCall, "serviceTime"> & { readonly from?: Continuation } = {},
): Promise<GivenData | undefined> {
  const path = readPath(provider, of.subject, of);
  const answer = await client.call({ method: "GET", ...pageCall(path, provider.paging, from), ...time });
  return answer.found ? answer : undefined;
}

/** Keeps the list for the next run, unless it is no longer than the kept one. */
async function keep({ from, items }: List, { of, read, kept, keptPages }: Reading): Promise<void> {
  if (kept?.from.pages === from.pages) return;
  await keptPages.keep(of, { read, from, items: separated(items) });
}

function itemsOf(text: string, { items }: Page): Parts {
  const source = items === undefined ? "" : itemsIn(text, items);
  return source === "" ? [] : [Buffer.from(source)];
}

const comma = Buffer.from(",");

function separated(items: Parts): Parts {
  return items.flatMap((part, index) => (index === 0 ? [part] : [comma, part]));
}

function inOnePage(text: string, { items: span }: Page, items: Parts): Parts {
  if (span === undefined) throw permanent("provider.paging.items: finds no list in the last page");
  const [before, after] = [text.slice(0, span.start + 1), text.slice(span.end - 1)];
  return [Buffer.from(before), ...separated(items), Buffer.from(after)];
}
