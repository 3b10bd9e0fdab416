import { type Parts, sizeOf } from "../../adapters/aws/compressed.ts";
import { type Content, contentOf } from "../../adapters/dynamodb/document-store.ts";
import type { Call } from "../../adapters/provider/with-token.ts";
import type { KeptPages } from "../../adapters/s3/kept-pages.ts";
import { FailureError, failureOf, permanent, waiting } from "../../domain/core/failures.ts";
import { type Continuation, itemsIn, type Page, pageCall, readPage } from "../../domain/fetch/paging.ts";
import {
  longestCallInSeconds,
  type ProviderSettings,
  readPath,
} from "../../domain/fetch/provider-settings.ts";
import { type TaskOf, writeTask } from "../../domain/fetch/tasks.ts";
import type { OneAtATime } from "../runtime/one-at-a-time.ts";

export type PagesDependencies = {
  readonly call: Call;
  readonly provider: Pick<ProviderSettings, "paths" | "paging" | "timeouts" | "maxDataBytes">;
  readonly keptPages: KeptPages;
  /** Of the reads of an environment one collects pages at a time: together they would not fit its memory. */
  readonly inTurn: OneAtATime;
  /** Milliseconds that are left for calls. */
  readonly timeLeft: () => number;
};

/**
 * One document that is being read.
 * @param noted what was requested before the first page; see `domain/fetch/document.ts`
 */
type Reading = PagesDependencies & { readonly task: TaskOf<"read">; readonly noted: number };

/** A list as far as it was read. */
type List = { readonly from: Continuation; readonly items: Parts };

/**
 * Reads a document, page by page where it comes in pages, and makes of it what the provider would have answered in
 * one: the last page with the items of all. An answer that is no page is left as it is, byte for byte.
 * @returns undefined where the provider has none
 * @throws a failure that carries the task to go on with, where a page fails or the time is over
 */
export async function readPages(reading: Reading): Promise<Content | undefined> {
  const { task, keptPages, provider, inTurn } = reading;
  const { progress } = task;
  if (progress !== undefined) {
    return inTurn(async (hasWaited) => {
      const kept = await keptPages.find(task.subject, task, progress.kept);
      if (kept === undefined) throw fromTheStart(task, "the pages read so far are gone");
      // The pages so far may all have been empty.
      const list = { from: progress.from, items: kept.byteLength === 0 ? [] : [kept] };
      // Otherwise each run reads one page at least, however short its time is.
      if (hasWaited) await checkTime(list, reading);
      return follow(list, reading);
    });
  }
  const text = await callFor(reading);
  if (text === undefined) return undefined;
  const page = readPage(text, provider.paging);
  const { next: from } = page;
  if (from === undefined) return contentOf(text);
  const list = { from, items: itemsOf(text, page) };
  return inTurn(async () => {
    await checkTime(list, reading);
    return follow(list, reading);
  });
}

async function follow(begun: List, reading: Reading): Promise<Content> {
  const { paging, maxDataBytes } = reading.provider;
  for (let list = begun; ; await checkTime(list, reading)) {
    const text = await nextPage(list, reading);
    const page = readPage(text, paging, list.from);
    const items = [...list.items, ...itemsOf(text, page)];
    if (sizeOf(items) > maxDataBytes) {
      throw permanent(`the data is over ${maxDataBytes} bytes; see provider.maxDataBytes`);
    }
    if (page.next === undefined) return contentOf(inOnePage(text, page, items));
    list = { from: page.next, items };
  }
}

/** @throws where another call might not end in time: another run goes on */
async function checkTime(list: List, reading: Reading): Promise<void> {
  if (reading.timeLeft() >= longestCallInSeconds(reading.provider) * 1000) return;
  throw await later(waiting("more pages are left", 0), list, reading);
}

async function nextPage(list: List, reading: Reading): Promise<string> {
  try {
    const text = await callFor(reading, list.from);
    if (text !== undefined) return text;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind === "retryable") throw await later(error, list, reading);
    if (failure.status !== 400) throw error;
  }
  throw fromTheStart(reading.task, "the provider does not go on with its pages");
}

async function callFor({ task, call, provider }: Reading, from?: Continuation): Promise<string | undefined> {
  const path = readPath(provider, task.subject, task);
  const answer = await call({ method: "GET", ...pageCall(path, provider.paging, from) });
  return answer.found ? answer.text : undefined;
}

/** The failure, with a task that goes on where this one came to. */
async function later(
  error: unknown,
  { from, items }: List,
  { task, noted, keptPages }: Reading,
): Promise<unknown> {
  const failure = failureOf(error);
  // The task itself says so already.
  if (failure.kind === "permanent" || task.progress?.from.pages === from.pages) return error;
  try {
    const kept = await keptPages.keep(task.subject, task, separated(items));
    return new FailureError({ ...failure, instead: writeTask({ ...task, progress: { noted, from, kept } }) });
  } catch (unkept) {
    // Then the pages are read again, which is an attempt: it must not go on for ever.
    return unkept;
  }
}

/** Cursors end, and what they led to can be gone: the list is read from its first page again. */
function fromTheStart({ progress: _, ...task }: TaskOf<"read">, reason: string): FailureError {
  return new FailureError({ kind: "retryable", reason, delayInSeconds: 0, instead: writeTask(task) });
}

function itemsOf(text: string, { items }: Page): Parts {
  const source = items === undefined ? "" : itemsIn(text, items);
  return source === "" ? [] : [Buffer.from(source)];
}

const comma = Buffer.from(",");

function separated(items: Parts): Parts {
  return items.flatMap((part, index) => (index === 0 ? [part] : [comma, part]));
}

function inOnePage(text: string, { items: place }: Page, items: Parts): Parts {
  if (place === undefined) throw permanent("provider.paging.items: finds no list in the last page");
  const [before, after] = [text.slice(0, place.start + 1), text.slice(place.end - 1)];
  return [Buffer.from(before), ...separated(items), Buffer.from(after)];
}
