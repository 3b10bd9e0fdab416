import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions, zstdDecompress } from "node:zlib";
import { compressionFormatOf } from "../domain/core/compression-format.ts";
import { retryable } from "../domain/core/failures.ts";
import { decodeUtf8 } from "../domain/event/envelope.ts";
import { asUtf8 } from "../domain/event/payload.ts";

/** What `decoded` undoes, and so what may be sent (`Accept-Encoding`). */
export const acceptEncoding = "gzip, deflate, br, zstd";

type Decode = (bytes: Uint8Array, limit: Pick<ZlibOptions, "maxOutputLength">) => Promise<Uint8Array>;

const gzip: Decode = promisify(gunzip);
const zlib: Decode = promisify(inflate);
const raw: Decode = promisify(inflateRaw);

const decoders: Readonly<Record<string, Decode>> = {
  gzip,
  "x-gzip": gzip,
  // Named after the format within zlib's, and sent in either.
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

/** More codings than anybody uses, each of which costs work. */
const maxCodings = 4;

/**
 * Undoes the codings of a body, the last one first, whether they were asked for or not.
 * @param contentEncoding as the header has it
 * @throws retryable failure where the body is not what its header says; `tooLarge` over the limit
 */
export async function decoded(
  body: Uint8Array,
  contentEncoding: string | undefined,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Uint8Array> {
  const codings = (contentEncoding ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  if (body.byteLength === 0 || codings.length === 0) return body;
  const steps = codings
    .toReversed()
    .map((name) => (Object.hasOwn(decoders, name) ? decoders[name] : undefined));
  let bytes = body;
  for (const decode of steps) {
    if (decode === undefined || steps.length > maxCodings)
      throw retryable("the provider's answer has a content coding that is not known");
    try {
      bytes = await decode(bytes, { maxOutputLength: maxBytes });
    } catch (error) {
      if (isOverLimit(error)) throw tooLarge();
      throw retryable("the provider's answer is not in the content coding that it says");
    }
  }
  return bytes;
}

/**
 * A webhook's body without its codings and in UTF-8. Some senders compress and don't say so: the bytes tell.
 * @param headers by names in lower case
 * @throws as `decoded` does
 */
export async function plainBody(
  sent: Uint8Array,
  headers: Readonly<Record<string, string | undefined>>,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Uint8Array> {
  const coding = headers["content-encoding"]?.trim() || undefined;
  const format =
    coding === undefined && decodeUtf8(sent) === undefined ? compressionFormatOf(sent) : undefined;
  return asUtf8(await decoded(sent, coding ?? format, maxBytes, tooLarge), headers["content-type"]);
}

function isOverLimit(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}
