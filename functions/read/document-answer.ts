import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { digestOf, expand } from "../../adapters/aws/content.ts";
import type { StoredDocument } from "../../adapters/dynamodb/documents.ts";
import type { ObjectBucket } from "../../adapters/s3/overflow-bucket.ts";
import { permanent } from "../../domain/core/failures.ts";
import { plainJson } from "../../domain/event/json.ts";
import {
  acceptsGzip,
  type Coding,
  entityTag,
  isNotModified,
  problem,
  reprDigest,
} from "../../domain/read/problem.ts";
import { type Answer, cacheControl, problemAnswer } from "./answer.ts";

/** The parts of a request that decide how a document is sent. */
export type Preferences = {
  readonly acceptEncoding: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** True for HEAD: send only the headers. */
  readonly isHead: boolean;
};

type Sent = {
  readonly coding: Coding;
  /** SHA-256 of the sent bytes, in hex. */
  readonly digest: string;
  readonly size?: number | undefined;
  readonly body: Uint8Array | Readable;
};

/** The data as the provider gave it, compressed if it is stored compressed and the caller accepts gzip. */
export async function documentAnswer(
  stored: StoredDocument,
  { acceptEncoding, ifNoneMatch, isHead }: Preferences,
  bucket: Pick<ObjectBucket, "open">,
): Promise<Answer> {
  const { digest, announced, contentType = plainJson } = stored.document;
  if (digest === undefined || announced === undefined) throw permanent("the document has no data");
  const coding = stored.storage.codec === "gzip" && acceptsGzip(acceptEncoding) ? "gzip" : "identity";
  const headers = {
    "content-type": contentType,
    etag: entityTag(digest, coding),
    vary: "Accept-Encoding",
    "last-modified": new Date(announced).toUTCString(),
    ...cacheControl,
  };
  if (isNotModified(ifNoneMatch, digest)) return { status: 304, headers };
  const sent = await sentAs(coding, stored, bucket);
  if (sent === undefined) return problemAnswer(problem("data-missing"));
  // A stream that is destroyed before it was read emits an error.
  if (isHead && !(sent.body instanceof Uint8Array)) sent.body.on("error", () => undefined).destroy();
  return {
    status: 200,
    headers: {
      ...headers,
      "repr-digest": reprDigest(sent.digest),
      ...(coding === "gzip" && { "content-encoding": coding }),
      ...(sent.size !== undefined && { "content-length": String(sent.size) }),
    },
    ...(isHead ? {} : { body: sent.body }),
  };
}

/** @returns undefined if the stored data is missing */
async function sentAs(
  coding: Coding,
  { document, storage }: StoredDocument,
  bucket: Pick<ObjectBucket, "open">,
): Promise<Sent | undefined> {
  const { digest = "", size } = document;
  const { object, objectDigest = "", content = new Uint8Array(), codec } = storage;
  if (object !== undefined) {
    const stream = await bucket.open(object);
    if (stream === undefined) return undefined;
    if (coding === "gzip") return { coding, digest: objectDigest, body: stream };
    // An error in either stream ends both.
    return { coding, digest, size, body: stream.compose(createGunzip()) };
  }
  if (coding === "gzip")
    return { coding, digest: digestOf([content]), size: content.byteLength, body: content };
  return { coding, digest, size, body: codec === "gzip" ? await expand(content) : content };
}
