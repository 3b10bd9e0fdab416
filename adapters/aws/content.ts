import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import {
  brotliDecompress,
  createGzip,
  gunzip,
  gzipSync,
  inflate,
  inflateRaw,
  type ZlibOptions,
  zstdDecompress,
} from "node:zlib";
import { retryable } from "../../domain/core/failures.ts";
import { jsonIn } from "../../domain/core/parse.ts";
import { decodeUtf8 } from "../../domain/event/envelope.ts";
import { decodeText } from "../../domain/event/json.ts";
import { asUtf8, compressionFormatOf } from "../../domain/event/payload.ts";

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

/** The content codings that `decoded` supports, for the header `Accept-Encoding`. */
export const acceptEncoding = "gzip, deflate, br, zstd";

const gzip = promisify(gunzip);
const zlib = promisify(inflate);
const raw = promisify(inflateRaw);

const decoders: Readonly<
  Record<string, (bytes: Uint8Array, limit: Pick<ZlibOptions, "maxOutputLength">) => Promise<Uint8Array>>
> = {
  gzip,
  "x-gzip": gzip,
  // Senders use either the zlib format or raw deflate under this name.
  deflate: async (bytes, limit) => {
    try {
      return await zlib(bytes, limit);
    } catch (error) {
      if (isOverLimit(error)) throw error;
      return raw(bytes, limit);
    }
  },
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
};

/** More codings than any sender uses. Each costs processor time. */
const maxCodings = 4;

/**
 * Decodes the content codings of a body, last one first, whether or not they were requested, then compression that the
 * header does not name. Unknown names, such as `none` or a charset, are ignored if the result is JSON.
 * @param contentEncoding the value of the header
 * @throws retryable failure if the body does not match its header; `tooLarge` over the limit
 */
export async function decoded(
  body: Uint8Array,
  contentEncoding: string | undefined,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Uint8Array> {
  if (body.byteLength === 0) return body;
  const codings = (contentEncoding ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity")
    .toReversed();
  const known = codings.filter((name) => Object.hasOwn(decoders, name));
  const unknown = "the provider's answer has a content coding that is not known";
  let bytes = body;
  for (let step = 0; ; step += 1) {
    const name = step < known.length ? known[step] : compressionOf(bytes);
    if (name === undefined) break;
    const decode = decoders[name];
    if (decode === undefined || Math.max(step + 1, codings.length) > maxCodings) throw retryable(unknown);
    try {
      bytes = await decode(bytes, { maxOutputLength: maxBytes });
    } catch (error) {
      if (isOverLimit(error)) throw tooLarge();
      throw retryable("the provider's answer is not in the content coding that it says");
    }
  }
  if (known.length < codings.length && jsonIn(decodeText(bytes) ?? "") === undefined)
    throw retryable(unknown);
  return bytes;
}

/** Text that begins like a compressed body is not one. */
function compressionOf(bytes: Uint8Array): string | undefined {
  const format = compressionFormatOf(bytes);
  return format !== undefined && decodeUtf8(bytes) === undefined ? format : undefined;
}

/**
 * Decodes a webhook's body and converts it to UTF-8.
 * @param headers by lower-case name
 * @throws as `decoded` does
 */
export async function plainBody(
  sent: Uint8Array,
  headers: Readonly<Record<string, string | undefined>>,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Uint8Array> {
  const body = await decoded(sent, headers["content-encoding"], maxBytes, tooLarge);
  return asUtf8(body, headers["content-type"]);
}

function isOverLimit(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}
