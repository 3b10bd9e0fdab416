import { type Parts, sizeOf } from "../../adapters/aws/content.ts";
import { type Content, contentOf } from "../../adapters/dynamodb/documents.ts";
import type { ProviderClient } from "../../adapters/provider/provider-client.ts";
import type { KeptPages, PagesOf, PartialList } from "../../adapters/s3/overflow-bucket.ts";
import { failureOf, permanent, retryable, waiting } from "../../domain/core/failures.ts";
import type { Mutex } from "../../domain/core/mutex.ts";
import type { GivenData } from "../../domain/fetch/answer.ts";
import type { ReadInPages } from "../../domain/fetch/coverage.ts";
import { type Continuation, itemsIn, type Page, pageCall, readPage } from "../../domain/fetch/paging.ts";
import {
  longestCallInSeconds,
  type ProviderSettings,
  readPath,
} from "../../domain/fetch/provider-settings.ts";

/** A document to read for a message's task. */
export type Reading = {
  readonly of: PagesOf;
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
  const data = await callFor(reading);
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
    const data = await callFor(reading, list.from);
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
  { of, client, provider }: Reading,
  from?: Continuation,
): Promise<GivenData | undefined> {
  const path = readPath(provider, of.subject, of);
  const answer = await client.call({ method: "GET", ...pageCall(path, provider.paging, from) });
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

function inOnePage(text: string, { items: place }: Page, items: Parts): Parts {
  if (place === undefined) throw permanent("provider.paging.items: finds no list in the last page");
  const [before, after] = [text.slice(0, place.start + 1), text.slice(place.end - 1)];
  return [Buffer.from(before), ...separated(items), Buffer.from(after)];
}
