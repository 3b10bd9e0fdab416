import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { createGzip, gunzip, gzipSync } from "node:zlib";

/** Text as UTF-8, in parts: what is large is never copied into one piece before it is small. */
export type Parts = readonly Uint8Array[];

/** What is this small is compressed at once: a stream would cost more than the compression. */
const smallInBytes = 65_536;

export async function compress(parts: Parts): Promise<Uint8Array> {
  if (sizeOf(parts) <= smallInBytes) return gzipSync(Buffer.concat(parts));
  return buffer(Readable.from(parts).compose(createGzip()));
}

export const expand: (compressed: Uint8Array) => Promise<Uint8Array> = promisify(gunzip);

/** SHA-256 of the parts together, in lower-case hex. */
export function digestOf(parts: Parts): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

export function sizeOf(parts: Parts): number {
  return parts.reduce((bytes, part) => bytes + part.byteLength, 0);
}
