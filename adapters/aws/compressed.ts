import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { createGzip, gunzip, gzipSync } from "node:zlib";

/** UTF-8 text in parts, so that large text is compressed without being copied into one piece. */
export type Parts = readonly Uint8Array[];

/** Up to this size, text is compressed synchronously, since a stream would cost more. */
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
