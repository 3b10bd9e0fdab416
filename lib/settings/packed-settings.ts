import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import type { Settings } from "./settings-schema.ts";

/** An output is for people too: what is longer than this is left out. */
const maxCharacters = 4_000;
/** Many times what settings are: the outputs may be a file from anywhere. */
const maxBytes = 1_000_000;

/** Settings in one word, defaults included; undefined where they are too many for an output. */
export function packSettings(settings: Settings): string | undefined {
  // As in an address: a slash would make it look like one to whoever checks that outputs lead nowhere else.
  const packed = brotliCompressSync(JSON.stringify(settings)).toString("base64url");
  return packed.length > maxCharacters ? undefined : packed;
}

/** What was packed, which another release may have written; undefined where it is no such word. */
export function unpackSettings(packed: string): unknown {
  try {
    const text = brotliDecompressSync(Buffer.from(packed, "base64url"), { maxOutputLength: maxBytes });
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}
