import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import type { MessageOf } from "./contract.ts";
import type { DocumentCache } from "./document-cache.ts";
import { type DocumentOf, type Endpoint, parseDocument } from "./document-shapes.ts";
import { type Json, parseJson } from "./json.ts";
import { contentOf } from "./read-message.ts";
import { type Credentials, signedHeaders } from "./sign.ts";

export type DocumentOptions = {
  /** As the AWS SDK's providers return them, such as `client.config.credentials`. Default: from the environment. */
  readonly credentials?: Credentials | (() => Promise<Credentials>);
  /** Default: the region in the document's address, else `AWS_REGION`. */
  readonly region?: string;
  /**
   * Lambda's endpoint, for documents that are read by invoking a function. Default: `AWS_ENDPOINT_URL_LAMBDA`, else
   * `AWS_ENDPOINT_URL`, else Lambda's own endpoint in the region.
   */
  readonly lambdaEndpoint?: string;
  readonly cache?: DocumentCache;
  /** Maximum attempts while the stage is busy. Default: 5. */
  readonly tries?: number;
  /** Waits before a retry. */
  readonly wait?: (milliseconds: number) => Promise<void>;
};

/** A document that was read. Its bytes have the digest that the message names. */
export type ReadDocument = {
  readonly type: "document";
  /** The bytes that the provider sent. */
  readonly bytes: Uint8Array;
  /**
   * Parses the document as JSON by its charset, without losing a digit. If an endpoint is named, checks the document
   * and returns its type.
   * @throws SyntaxError, or an Error naming the field that does not match the endpoint's type
   */
  json(): Json;
  json<Name extends Endpoint>(endpoint: Name): DocumentOf<Name>;
};

/**
 * The result of a read. `replaced`: there is a newer version, and its own message is on its way. `gone`: the person
 * was erased, or the provider no longer has data.
 */
export type DocumentResult = ReadDocument | { readonly type: "replaced" } | { readonly type: "gone" };

/** The stage did not return the document. Leave the message on the queue, so that it is retried. */
export class DocumentError extends Error {
  /** Status of the last response; absent: there was none. */
  readonly status: number | undefined;

  constructor(reason: string, status?: number, cause?: unknown) {
    super(reason, { cause });
    this.name = "DocumentError";
    this.status = status;
  }
}

/**
 * Reads the version of the document that a message names, and checks its digest. If the message contains the
 * document, reads it from there. Else reads it from the stage, signed with Signature Version 4, at its URL or by
 * invoking the function in its address. Retries while the stage is busy, after the time that the stage names.
 * @throws DocumentError if the stage refuses the caller, stays busy or returns other bytes, or if documents are sent
 * only in messages and this one has none
 */
export async function readDocument(
  message: MessageOf<"data.updated">,
  options: DocumentOptions = {},
): Promise<DocumentResult> {
  const { document } = message.data;
  if (document === undefined) return { type: "gone" };
  const { href, sha256, contentType } = document;
  const inline = Buffer.from(contentOf(document) ?? "");
  if (digestOf(inline) === sha256) return documentOf(inline, contentType);
  if (href.startsWith("urn:")) throw new DocumentError("the stage's documents are read from messages alone");
  const cached = await options.cache?.get(href);
  const answer = await askUntilAnswered(new URL(href), cached?.etag, options);
  if (answer.status === 404) {
    await options.cache?.delete(href);
    return { type: isReplaced(answer.bytes) ? "replaced" : "gone" };
  }
  const bytes = answer.status === 304 ? cached?.bytes : answer.status === 200 ? answer.bytes : undefined;
  if (bytes === undefined)
    throw new DocumentError(`the document was answered ${answer.status}`, answer.status);
  if (digestOf(bytes) !== sha256) {
    await options.cache?.delete(href);
    throw new DocumentError("the document's bytes are not those that the message names", answer.status);
  }
  if (answer.status === 200 && answer.etag !== null) {
    await options.cache?.set(href, { etag: answer.etag, bytes });
  }
  return documentOf(bytes, contentType);
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function documentOf(bytes: Uint8Array, contentType: string): ReadDocument {
  function json(): Json;
  function json<Name extends Endpoint>(endpoint: Name): DocumentOf<Name>;
  function json(endpoint?: Endpoint) {
    const value = parseJson(textOf(bytes, contentType));
    return endpoint === undefined ? value : parseDocument(endpoint, value);
  }
  return { type: "document", bytes, json };
}

/** Decodes by the byte order mark, else by the charset of the content type, else as UTF-8. */
function textOf(bytes: Uint8Array, contentType: string): string {
  const [first, second] = bytes;
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1]?.toLowerCase() ?? "utf-8";
  const isBigEndian = (first === 0xfe && second === 0xff) || (charset === "utf-16" && first === 0);
  const isLittleEndian = first === 0xff && second === 0xfe;
  const encoding = isBigEndian ? "utf-16be" : isLittleEndian ? "utf-16le" : charset;
  return new TextDecoder(encoding, { fatal: true }).decode(bytes);
}

type Answer = {
  readonly status: number;
  readonly etag: string | null;
  readonly bytes: Uint8Array;
};

const firstWaitMs = 100;

async function askUntilAnswered(
  url: URL,
  etag: string | undefined,
  options: DocumentOptions,
): Promise<Answer> {
  const { tries = 5, wait = waitFor } = options;
  for (let done = 1; ; done += 1) {
    const { answer, retryAfter, problem, cause } = await ask(url, etag, options);
    if (answer !== undefined) return answer;
    if (done >= tries) throw new DocumentError(`${problem}, ${done} times`, undefined, cause);
    // Random jitter, so that clients don't all retry at once.
    const ownMs = firstWaitMs * 2 ** (done - 1) * (1 + Math.random());
    await wait(Math.max(ownMs, retryAfter * 1000));
  }
}

type Asked = {
  readonly answer?: Answer;
  readonly retryAfter: number;
  readonly problem?: string;
  readonly cause?: unknown;
};

/** Returns no answer if a retry may help: the stage was busy, or the connection broke. */
async function ask(url: URL, etag: string | undefined, options: DocumentOptions): Promise<Asked> {
  if (url.protocol === "arn:") return invoke(url, etag, options);
  // Signed for each attempt, since credentials and signatures expire.
  const signing = {
    region: regionOf(url, options),
    credentials: await credentialsOf(options),
    at: new Date(),
  };
  const headers = etag === undefined ? {} : { "if-none-match": etag };
  try {
    // fetch requests gzip and decompresses it.
    const response = await fetch(url, {
      headers: signedHeaders(url, { ...signing, headers }),
      redirect: "error",
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const { status, headers: answered } = response;
    return isBusy(status)
      ? busy(response)
      : { answer: { status, etag: answered.get("etag"), bytes }, retryAfter: 0 };
  } catch (cause) {
    return unanswered(cause);
  }
}

/**
 * Invokes the function that an address names, `arn:…:function:NAME:ALIAS/v1/…`, and returns its answer.
 * Source: Lambda API reference, "Invoke".
 */
async function invoke(url: URL, etag: string | undefined, options: DocumentOptions): Promise<Asked> {
  const [, arn = "", path = ""] = /^([^/]+)(\/.*)$/.exec(url.href) ?? [];
  const region = options.region ?? arn.split(":")[3] ?? "";
  const { AWS_ENDPOINT_URL_LAMBDA, AWS_ENDPOINT_URL } = process.env;
  const suffix = arn.startsWith("arn:aws-eusc:") ? "amazonaws.eu" : "amazonaws.com";
  const lambda =
    options.lambdaEndpoint ||
    AWS_ENDPOINT_URL_LAMBDA ||
    AWS_ENDPOINT_URL ||
    `https://lambda.${region}.${suffix}`;
  const target = new URL(`/2015-03-31/functions/${encodeURIComponent(arn)}/invocations`, lambda);
  const body = JSON.stringify({
    path,
    acceptEncoding: "gzip",
    ...(etag !== undefined && { ifNoneMatch: etag }),
  });
  const signing = {
    region,
    credentials: await credentialsOf(options),
    at: new Date(),
    method: "POST",
    body,
  } as const;
  try {
    const headers = signedHeaders(target, { ...signing, headers: { "content-type": "application/json" } });
    const response = await fetch(target, { method: "POST", headers, body, redirect: "error" });
    if (isBusy(response.status)) return busy(response);
    // This is Lambda's own response: its 404 says nothing about the document.
    if (response.status !== 200)
      throw new DocumentError(
        `Lambda answered ${response.status} to an invocation of ${arn}`,
        response.status,
      );
    if (response.headers.has("x-amz-function-error"))
      return { retryAfter: 0, problem: "the function that reads the document failed" };
    const { status, headers: answered, body: base64 } = Object(await response.json());
    const sent = new Uint8Array(Buffer.from(String(base64), "base64"));
    const bytes = answered["content-encoding"] === "gzip" ? new Uint8Array(gunzipSync(sent)) : sent;
    return { answer: { status: Number(status), etag: answered.etag ?? null, bytes }, retryAfter: 0 };
  } catch (cause) {
    return unanswered(cause);
  }
}

function isBusy(status: number): boolean {
  return status === 429 || status >= 500;
}

function busy({ status, headers }: Response): Asked {
  const retryAfter = Number(headers.get("retry-after") ?? 0) || 0;
  return { retryAfter, problem: `the document was answered ${status}` };
}

function unanswered(cause: unknown): Asked {
  if (cause instanceof DocumentError) throw cause;
  return { retryAfter: 0, problem: "the document could not be read", cause };
}

/** A function's URL in AWS contains its region. `AWS_REGION` is for other URLs, such as local ones. */
function regionOf({ hostname }: URL, { region }: DocumentOptions): string {
  const named = /\.lambda-url\.([a-z0-9-]+)\.on\.aws$/.exec(hostname)?.[1];
  const found = region ?? named ?? process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION;
  if (found === undefined) throw new DocumentError("no region: pass one, or set AWS_REGION");
  return found;
}

async function credentialsOf({ credentials }: DocumentOptions): Promise<Credentials> {
  if (typeof credentials === "function") return credentials();
  if (credentials !== undefined) return credentials;
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = process.env;
  if (!accessKeyId || !secretAccessKey) {
    throw new DocumentError(
      "no credentials: pass them, for example client.config.credentials of an SDK's client",
    );
  }
  return { accessKeyId, secretAccessKey, sessionToken: process.env.AWS_SESSION_TOKEN };
}

function isReplaced(problem: Uint8Array): boolean {
  try {
    const { type } = Object(JSON.parse(new TextDecoder().decode(problem)));
    return type === "urn:income-events:problem:version-not-kept";
  } catch {
    return false;
  }
}

function waitFor(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
