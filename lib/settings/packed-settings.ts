import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import type { Settings } from "./settings-schema.ts";

/** An output is for people too: what is longer than this is left out. */
const mostCharacters = 4_000;

/** Settings in one word, defaults included; undefined where they are too many for an output. */
export function packSettings(settings: Settings): string | undefined {
  const packed = brotliCompressSync(JSON.stringify(settings)).toString("base64");
  return packed.length > mostCharacters ? undefined : packed;
}

/** What was packed, which another release may have written. @throws where it is no such word */
export function unpackSettings(packed: string): unknown {
  return JSON.parse(brotliDecompressSync(Buffer.from(packed, "base64")).toString());
}
