import { compress, expand, type Parts, sizeOf } from "../../adapters/aws/content.ts";
import { type Content, contentOf } from "../../adapters/dynamodb/documents.ts";
import type { ApiCall } from "../../adapters/provider/provider-api.ts";
import type { ProviderClient } from "../../adapters/provider/provider-client.ts";
import type { OverflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import type { mutex } from "../../domain/core/batches.ts";
import { failureOf, permanent, retryable, waiting } from "../../domain/core/failures.ts";
import { fieldsOf, parseJson } from "../../domain/core/parse.ts";
import { jsonText } from "../../domain/event/json.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import type { GivenData } from "../../domain/fetch/answer.ts";
import {
  type DataName,
  nameOfData,
  parseReadInPages,
  type ReadInPages,
} from "../../domain/fetch/document.ts";
import {
  type Continuation,
  itemsIn,
  type Page,
  pageCall,
  parseContinuation,
  readPage,
} from "../../domain/fetch/paging.ts";
import {
  longestCallInSeconds,
  type ProviderSettings,
  readPath,
} from "../../domain/fetch/provider-settings.ts";

/** A document to read for a message's task. */
export type Reading = {
  readonly of: PagesOf;
  /** The call for the first page, if it has already been made. */
  readonly early?: Promise<GivenData | undefined> | undefined;
  readonly read: ReadInPages;
  /** Pages that an earlier run read, to continue from. */
  readonly kept: PartialList | undefined;
  readonly client: Pick<ProviderClient, "call">;
  readonly provider: Pick<ProviderSettings, "paths" | "paging" | "timeouts" | "maxDataBytes">;
  readonly keptPages: KeptPages;
  /** Lets one read at a time collect pages; several would not fit in memory. */
  readonly pageMutex: ReturnType<typeof mutex>;
  /** Milliseconds left for calls. */
  readonly timeLeft: () => number;
};

/** The part of a list that was read so far. */
type List = Pick<PartialList, "from" | "items">;

/**
 * Reads a document. If it has several pages, returns the last page with the items of all pages, in UTF-8. A
 * single page is returned byte for byte.
 * @returns undefined if the provider has no such document
 * @throws a failure if a page fails or the time runs out; the pages read so far are stored
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
  const page = readPage(data, provider.paging);
  const { next: from } = page;
  if (from === undefined) return contentOf([data.bytes], data.contentType);
  const list = { from, items: itemsOf(data.text, page) };
  return pageMutex(async () => {
    await checkTime(list, reading);
    return follow(list, reading);
  });
}

async function follow(begun: List, reading: Reading): Promise<Content> {
  const { paging, maxDataBytes } = reading.provider;
  for (let list = begun; ; await checkTime(list, reading)) {
    const data = await nextPage(list, reading);
    const { text } = data;
    const page = readPage(data, paging, list.from);
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
  throw retryable("the provider rejects the cursor of the next page");
}

/** Calls for the first page of a document, or the page at a continuation. */
export async function callFor(
  { of, client, provider }: Pick<Reading, "of" | "client" | "provider">,
  { from, ...time }: Pick<ApiCall, "serviceTime"> & { readonly from?: Continuation } = {},
): Promise<GivenData | undefined> {
  const path = readPath(provider, of.subject, of);
  const answer = await client.call({ method: "GET", ...pageCall(path, provider.paging, from), ...time });
  return answer.found ? answer : undefined;
}

/** Stores the list for the next run, unless it has no more pages than the stored one. */
async function keep({ from, items }: List, { of, read, kept, keptPages }: Reading): Promise<void> {
  if (kept?.from.pages === from.pages) return;
  await keptPages.keep(of, { read, from, items: commaSeparated(items) });
}

function itemsOf(text: string, { items }: Page): Parts {
  const source = items === undefined ? "" : itemsIn(text, items);
  return source === "" ? [] : [Buffer.from(source)];
}

const comma = Buffer.from(",");

function commaSeparated(items: Parts): Parts {
  return items.flatMap((part, index) => (index === 0 ? [part] : [comma, part]));
}

function inOnePage(text: string, { items: span }: Page, items: Parts): Parts {
  if (span === undefined) throw permanent("provider.paging.items: finds no list in the last page");
  const [before, after] = [text.slice(0, span.start + 1), text.slice(span.end - 1)];
  return [Buffer.from(before), ...commaSeparated(items), Buffer.from(after)];
}

/** A list that is still being read: its read, where to continue, and the items so far. */
export type PartialList = { readonly read: ReadInPages; readonly from: Continuation; readonly items: Parts };

/** Identifies a read by its document and the message that carried its task. */
export type PagesOf = DataName & { readonly subject: Subject; readonly messageId: string };

/** Stores the part of a list read so far, under its subject's name, where an erasure finds it. */
export type KeptPages = ReturnType<typeof keptPages>;

const lineEnd = Buffer.from("\n");

export function keptPages(bucket: OverflowBucket) {
  const keyOf = ({ subject, messageId, ...name }: PagesOf) =>
    `pages/${nameOf(subject)}/${nameOfData(name, "/")}/${messageId}.gz`;
  return {
    keep: async (of: PagesOf, { read, from, items }: PartialList) => {
      // This JSON contains no line end, so the first one separates it from the items.
      const head = Buffer.from(jsonText({ read, from }));
      await bucket.put(keyOf(of), await compress([head, lineEnd, ...items]));
    },
    // The role that writes pages may not delete them.
    /** Discards the stored pages. */
    forget: (of: PagesOf) => bucket.put(keyOf(of), new Uint8Array()),
    /** Undefined if nothing was stored, or if it was discarded or has expired. */
    find: async (of: PagesOf) => {
      const compressed = await bucket.find(keyOf(of));
      if (compressed === undefined || compressed.byteLength === 0) return undefined;
      return parseList(Buffer.from(await expand(compressed)));
    },
  };
}

function parseList(kept: Buffer): PartialList {
  const end = kept.indexOf(lineEnd);
  const fields = fieldsOf(
    parseJson(kept.subarray(0, end).toString(), "the stored pages"),
    "the stored pages",
  );
  const items = kept.subarray(end + 1);
  return {
    read: parseReadInPages(fields.read),
    from: parseContinuation(fieldsOf(fields.from, "from")),
    // The pages so far may all have been empty.
    items: items.byteLength === 0 ? [] : [items],
  };
}
