import { fieldsOf, numberOf, parseJson, textsOf } from "../../domain/core/parse.ts";
import { jsonText } from "../../domain/event/json.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import type { ReadInPages } from "../../domain/fetch/coverage.ts";
import { type DataName, nameOfData } from "../../domain/fetch/document-name.ts";
import { type Continuation, parseContinuation } from "../../domain/fetch/paging.ts";
import { compress, expand, type Parts } from "../aws/content.ts";
import type { OverflowBucket } from "./overflow-bucket.ts";

/** A list that is still being read: its read, where to continue, and the items so far. */
export type PartialList = { readonly read: ReadInPages; readonly from: Continuation; readonly items: Parts };

/** Identifies a read by its document and the message that carried its task. */
export type PagesOf = DataName & { readonly subject: Subject; readonly messageId: string };

/** Stores the part of a list read so far, under its subject's name, where an erasure finds it. */
export type KeptPages = {
  readonly keep: (of: PagesOf, list: PartialList) => Promise<void>;
  /** Discards the stored pages. */
  readonly forget: (of: PagesOf) => Promise<void>;
  /** Undefined if nothing was stored, or if it was discarded or has expired. */
  readonly find: (of: PagesOf) => Promise<PartialList | undefined>;
};

const lineEnd = Buffer.from("\n");

export function keptPages(bucket: OverflowBucket): KeptPages {
  const keyOf = ({ subject, messageId, ...name }: PagesOf) =>
    `pages/${nameOf(subject)}/${nameOfData(name, "/")}/${messageId}.gz`;
  return {
    keep: async (of, { read, from, items }) => {
      // This JSON contains no line end, so the first one separates it from the items.
      const head = Buffer.from(jsonText({ read, from }));
      await bucket.put(keyOf(of), await compress([head, lineEnd, ...items]));
    },
    // The role that writes pages may not delete them.
    forget: (of) => bucket.put(keyOf(of), new Uint8Array()),
    find: async (of) => {
      const compressed = await bucket.find(keyOf(of));
      if (compressed === undefined || compressed.byteLength === 0) return undefined;
      return parseList(Buffer.from(await expand(compressed)));
    },
  };
}

function parseList(kept: Buffer): PartialList {
  const end = kept.indexOf(lineEnd);
  const fields = fieldsOf(parseJson(kept.subarray(0, end).toString(), "the kept pages"), "the kept pages");
  const items = kept.subarray(end + 1);
  return {
    read: parseRead(fields.read),
    from: parseContinuation(fieldsOf(fields.from, "from")),
    // The pages so far may all have been empty.
    items: items.byteLength === 0 ? [] : [items],
  };
}

function parseRead(value: unknown): ReadInPages {
  const fields = fieldsOf(value, "read");
  return {
    asOf: numberOf(fields, "asOf"),
    by: textsOf(fields, "by"),
    known: fields.known === undefined ? undefined : numberOf(fields, "known"),
  };
}
