import { createHash } from "node:crypto";
// Imports one locale only: the package's main entry takes half a second to load them all.
import { faker } from "@faker-js/faker/locale/en";
import { z } from "zod";
import type { Store } from "../store.ts";

/** A deterministic source of generated values. Shared: finish using it before you request the next. */
export type Random = typeof faker;

/** Seeds the source by names, for example `random(accountId, "profile")`. */
export function random(...names: readonly string[]): Random {
  faker.seed(createHash("sha256").update(names.join("\0")).digest().readUInt32BE());
  return faker;
}

/** Counters are reserved in blocks: a restart repeats none, and not every id costs a write. */
const blockSize = 1000;

/** Creates UUIDs derived from a name: the same seed and calls yield the same ids. */
export function idSource(name: string, store: Store): () => string {
  const blocks = store.collection("id-blocks", z.object({}));
  let made = blocks.size * blockSize;
  return () => {
    if (made % blockSize === 0) blocks.set(String(made), {});
    made += 1;
    const hex = createHash("sha256").update(`${name} ${made}`).digest("hex");
    // Version 4, variant 10 (RFC 9562).
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  };
}
