import { Readable } from "node:stream";
import type { S3Client, S3ClientConfig, S3ServiceException } from "@aws-sdk/client-s3";
import { isFields } from "../../domain/core/parse.ts";
import { type Body, type Envelope, inlineLimitInBytes, writeEnvelope } from "../../domain/event/envelope.ts";

/**
 * Whether S3 refused an existing object: 403 if the caller may not read it or KMS denies the key, 400 if the key is
 * disabled or deleted. Only a caller that may list the bucket can tell; for others, S3 answers 403 for a missing
 * object too.
 * Source: Amazon S3 API reference, "GetObject".
 */
export function isRefused(error: unknown): boolean {
  const status = statusOf(error);
  return status === 400 || status === 403;
}

export function statusOf(error: unknown): unknown {
  return isFields(error) && isFields(error.$metadata) ? error.$metadata.httpStatusCode : undefined;
}

/**
 * An S3 client for functions and commands. If an endpoint is set (here, by a variable such as `AWS_ENDPOINT_URL`, or
 * in AWS's configuration file), the bucket's name is part of the path, since nothing resolves `<bucket>.localhost`.
 * @param S3 the class, which some callers load on first use
 */
export function s3Client(S3: typeof S3Client, settings: S3ClientConfig = {}): S3Client {
  const client = new S3(settings);
  const { config } = client;
  const { endpointProvider } = config;
  config.endpointProvider = (parameters, context) =>
    endpointProvider(
      parameters.Endpoint === undefined ? parameters : { ...parameters, ForcePathStyle: true },
      context,
    );
  return client;
}

/**
 * Stores what is too large for a message or an item. The S3 client is loaded on first use, so that small data does
 * not pay for it.
 */
export type OverflowBucket = {
  readonly put: (key: string, content: string | Uint8Array) => Promise<void>;
  readonly get: (key: string) => Promise<Uint8Array>;
  /** Undefined if the object is missing. @throws if KMS refuses to decrypt it */
  readonly find: (key: string) => Promise<Uint8Array | undefined>;
};

/** Further operations on a bucket, which only some functions need. */
export type ObjectBucket = OverflowBucket & {
  /** Streams the bytes of an object; undefined if it is missing. @throws if KMS refuses to decrypt it */
  readonly open: (key: string) => Promise<Readable | undefined>;
  /** Deletes an object. Deleting a missing object succeeds. */
  readonly remove: (key: string) => Promise<void>;
  /**
   * Bytes, or why there are none: S3 has no such object, or refuses it, for example if it can't decrypt it. Needs
   * permission to list the bucket; without it, S3 does not report that an object is missing.
   */
  readonly tryGet: (key: string) => Promise<Uint8Array | "missing" | "refused">;
  /** The objects whose keys start with `prefix`, in the order of their keys. */
  readonly list: (prefix: string) => Promise<readonly { readonly key: string; readonly since: Date }[]>;
};

/** @param given the client to use; absent: one configured by the environment */
export function overflowBucket(bucket: string, given?: S3Client): ObjectBucket {
  const connect = once(async () => {
    const s3 = await import("#lazy/s3");
    return { s3, client: given ?? s3Client(s3.S3Client) };
  });
  const get = async (key: string) => {
    const { s3, client } = await connect();
    const { Body } = await client.send(new s3.GetObjectCommand({ Bucket: bucket, Key: key }));
    return Body === undefined ? new Uint8Array() : Body.transformToByteArray();
  };
  const unlessMissing = async <T>(read: () => Promise<T>) => {
    const { s3 } = await connect();
    try {
      return await read();
    } catch (error) {
      if (error instanceof s3.S3ServiceException && isMissing(error)) return undefined;
      throw error;
    }
  };
  return {
    put: async (key, content) => {
      const { s3, client } = await connect();
      await client.send(new s3.PutObjectCommand({ Bucket: bucket, Key: key, Body: content }));
    },
    get,
    find: (key) => unlessMissing(() => get(key)),
    tryGet: async (key) => {
      try {
        return await get(key);
      } catch (error) {
        if (statusOf(error) === 404) return "missing";
        if (isRefused(error)) return "refused";
        throw error;
      }
    },
    list: async (Prefix) => {
      const { s3, client } = await connect();
      const found: { key: string; since: Date }[] = [];
      for await (const { Contents = [] } of s3.paginateListObjectsV2({ client }, { Bucket: bucket, Prefix }))
        for (const { Key, LastModified } of Contents)
          if (Key !== undefined && LastModified !== undefined) found.push({ key: Key, since: LastModified });
      return found;
    },
    remove: async (key) => {
      const { s3, client } = await connect();
      await client.send(new s3.DeleteObjectCommand({ Bucket: bucket, Key: key }));
    },
    open: (key) =>
      unlessMissing(async () => {
        const { s3, client } = await connect();
        const { Body } = await client.send(new s3.GetObjectCommand({ Bucket: bucket, Key: key }));
        return Body instanceof Readable ? Body : Readable.from([]);
      }),
  };
}

/**
 * S3 answers 403 for a missing object if the caller may not list the bucket, and for an object that KMS does not let
 * the caller decrypt. Only the message distinguishes them: "… not authorized to perform: kms:Decrypt", or, for a key
 * of another account, "The ciphertext refers to a customer master key that does not exist …".
 */
function isMissing({ $metadata, message }: S3ServiceException): boolean {
  const status = $metadata.httpStatusCode;
  return status === 404 || (status === 403 && !/\bkms:|ciphertext/i.test(message));
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/**
 * The text of a webhook's body, which may be in S3. Reconciliation's facts have no text.
 * @throws permanent failure if the body was not kept
 */
export async function bodyText(
  body: Exclude<Body, { type: "facts" }>,
  overflow: Pick<OverflowBucket, "get">,
): Promise<string> {
  switch (body.type) {
    case "text":
      return body.text;
    case "base64":
      return Buffer.from(body.base64, "base64").toString("utf8");
    case "object": {
      const content = Buffer.from(await overflow.get(body.key)).toString("utf8");
      return body.encoding === "base64" ? Buffer.from(content, "base64").toString("utf8") : content;
    }
  }
}

/**
 * Moves a body that is too large to the overflow bucket, and leaves a pointer in its place.
 * @returns the envelope, which fits into a message or an item, and its text
 */
export async function sizedEnvelope(
  envelope: Envelope,
  overflow: Pick<OverflowBucket, "put">,
): Promise<{ readonly envelope: Envelope; readonly message: string }> {
  const message = writeEnvelope(envelope);
  const { body, kind, id } = envelope;
  if (Buffer.byteLength(message) <= inlineLimitInBytes || (body.type !== "text" && body.type !== "base64")) {
    return { envelope, message };
  }
  const content = body.type === "text" ? body.text : body.base64;
  const key = `bodies/${kind}/${id}`;
  await overflow.put(key, content);
  const pointer = { type: "object", key, encoding: body.type, bytes: Buffer.byteLength(content) } as const;
  const sized = { ...envelope, body: pointer };
  return { envelope: sized, message: writeEnvelope(sized) };
}
