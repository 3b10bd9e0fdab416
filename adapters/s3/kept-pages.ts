import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { type DataName, nameOfData } from "../../domain/fetch/document-name.ts";
import { compress, digestOf, expand, type Parts } from "../aws/compressed.ts";
import type { OverflowBucket } from "./overflow-bucket.ts";

/** Keeps the items of a list that is still being read, under its subject's name, where an erasure finds them. */
export type KeptPages = {
  /** @returns what they are kept as: the same items are kept once */
  readonly keep: (subject: Subject, name: DataName, items: Parts) => Promise<string>;
  /** Undefined where they are gone: they expire. */
  readonly find: (subject: Subject, name: DataName, kept: string) => Promise<Uint8Array | undefined>;
};

export function keptPages(bucket: OverflowBucket): KeptPages {
  const keyOf = (subject: Subject, name: DataName, kept: string) =>
    `pages/${nameOf(subject)}/${nameOfData(name, "/")}/${kept}.gz`;
  return {
    keep: async (subject, name, items) => {
      const kept = digestOf(items);
      await bucket.put(keyOf(subject, name, kept), await compress(items));
      return kept;
    },
    find: async (subject, name, kept) => {
      const compressed = await bucket.find(keyOf(subject, name, kept));
      return compressed && expand(compressed);
    },
  };
}
