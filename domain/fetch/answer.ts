import { notReady, permanent, refusedCall, retryable } from "../core/failures.ts";
import { jsonIn } from "../core/parse.ts";
import { readTime } from "../core/timestamps.ts";
import { decodeText, isCharset, type MediaType, mediaTypeOf, plainJson } from "../event/json.ts";

/**
 * Maximum `Retry-After` that is honored, in seconds. SQS hides a message for at most 12 hours, and an absurd
 * value must not stop the pipeline forever.
 */
export const longestRetryAfterInSeconds = 11 * 3_600;

const inSeconds = /^(?:\d+\.?\d*|\.\d+)$/;
/** Ten or more digits, which would be a wait of more than 31 years. */
const unixTime = /^\d{10}/;
const isoDate = /^\d{4}-\d{2}-\d{2}T/;
/** The three forms of RFC 9110: `Sat, 21 Nov 2026 …`, `Saturday, 21-Nov-26 …`, `Sat Nov 21 … 2026`. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /i;
const zone = /(?:GMT|UTC|Z|[+-]\d{2}:?\d{2})$/i;

/**
 * Parses `Retry-After` (RFC 9110, 10.2.3): whole or fractional seconds, or a date, also as a Unix time.
 * @returns seconds; 0 for a date in the past; undefined if missing or invalid
 */
export function retryAfterInSeconds(value: string | undefined, now: Date): number | undefined {
  const text = value?.trim() ?? "";
  const date = (unixTime.test(text) ? readTime(text)?.time : undefined) ?? text;
  const seconds = inSeconds.test(date) ? Number(date) : (dateOf(date) - now.getTime()) / 1000;
  if (Number.isNaN(seconds)) return undefined;
  return Math.min(longestRetryAfterInSeconds, Math.max(0, seconds));
}

/** Milliseconds since 1970; NaN if invalid. A date without a zone is UTC. */
function dateOf(text: string): number {
  const isIso = isoDate.test(text);
  if (!isIso && !httpDate.test(text)) return Number.NaN;
  return Date.parse(zone.test(text) ? text : `${text}${isIso ? "Z" : " GMT"}`);
}

/** What the caller expects: `data` in the answer, or `acceptance`, whatever the answer contains. */
export type Expectation = "data" | "acceptance";

/** The path of an error in a JSON answer, as names joined by dots, and what such an error means. */
export type ErrorPlace = { readonly path: string; readonly means: (typeof errorMeanings)[number] };

export const errorMeanings = ["failed", "not-ready"] as const;

export type GivenAnswer = {
  readonly status: number;
  readonly contentType?: string | undefined;
  readonly retryAfter?: string | undefined;
  readonly location?: string | undefined;
  readonly link?: string | undefined;
  /** Without content codings such as gzip; empty if `readsBody` is false. */
  readonly body: Uint8Array;
};

export type AnswerRules = {
  readonly expects: Expectation;
  readonly error?: ErrorPlace | undefined;
  readonly url: string;
  readonly now: Date;
};

/** JSON from the provider. */
export type GivenData = {
  readonly bytes: Uint8Array;
  /** `application/json` for JSON in UTF-8; otherwise as the provider sent it. */
  readonly contentType: string;
  /** The decoded bytes, without a byte order mark. Valid JSON. */
  readonly text: string;
  /** The header `Link`. */
  readonly link?: string | undefined;
};

/** The provider's answer; `found: false` if it has no such resource. The data is empty if none was expected. */
export type ApiAnswer = ({ readonly found: true } & GivenData) | { readonly found: false };

/** The provider refused the token. */
export class Unauthorized extends Error {
  override name = "Unauthorized";

  /** Whether it accepts the same token for other calls. */
  readonly isAlone: boolean;

  constructor(isAlone = false) {
    super();
    this.isAlone = isAlone;
  }
}

const emptyStatuses = [202, 204, 205];

/** Whether the body of an answer with this status decides its outcome. Other statuses decide it alone. */
export function readsBody(status: number, expects: Expectation): boolean {
  if (expects === "data" && emptyStatuses.includes(status)) return false;
  return status >= 200 && status < 300 && status !== 206;
}

/**
 * Interprets an answer of the provider.
 * @throws `Unauthorized` if it refused the token; a failure if the answer is not what the call expects
 */
export function readAnswer(answer: GivenAnswer, rules: AnswerRules): ApiAnswer {
  const { status } = answer;
  const answered = `the provider answered ${status}`;
  const wait = retryAfterInSeconds(answer.retryAfter, rules.now);
  if (readsBody(status, rules.expects)) return readData(answer, rules, wait);
  switch (status) {
    case 202:
    case 204:
    case 205:
    case 425:
      throw notReady(`${answered}: not ready`, wait);
    case 206:
      throw retryable(`${answered}: a part of what was asked for`, wait);
    case 401:
      throw new Unauthorized();
    case 403:
      throw wait === undefined ? refusedCall(answered) : retryable(answered, wait);
    case 404:
    case 410:
      return { found: false };
    case 408:
    case 429:
      throw retryable(answered, wait);
  }
  if (status >= 500) throw retryable(answered, wait);
  if (status >= 400) throw permanent(answered, status);
  const leads = `${answered} and leads to ${hostOf(answer.location, rules.url)}`;
  const reason = `${leads}: redirects are not followed; see provider.baseUrls`;
  // A temporary one may lead to a page about maintenance.
  throw [302, 303, 307].includes(status) ? retryable(reason, wait) : permanent(reason, status);
}

/** Returns only the host, because the rest of an address may be secret. */
function hostOf(location: string | undefined, base: string): string {
  if (location === undefined || !URL.canParse(location, base)) return "nowhere";
  return new URL(location, base).hostname;
}

/**
 * Treats a body that is not data, such as a proxy's page or a truncated body, as a failure despite its
 * status.
 */
function readData(
  { status, contentType, link, body }: GivenAnswer,
  { expects, error }: AnswerRules,
  wait: number | undefined,
): ApiAnswer {
  const type = mediaTypeOf(contentType);
  const accepted = { found: true, ...dataIn("") } as const;
  const faulty = (what: string) => retryable(`the provider answered ${status} with ${what}`, wait);
  const text = decodeText(body, type?.charset);
  if (text?.trim() === "") {
    if (expects === "acceptance") return accepted;
    throw faulty("no content");
  }
  if (type !== undefined && isFile(type))
    throw permanent(`the provider answered ${status} with ${type.essence}, which is not read`);
  if (type !== undefined && !isReadable(type)) throw faulty(`${type.essence} in place of JSON`);
  if (text === undefined) throw faulty("other bytes than its charset has");
  const json = jsonIn(text);
  if (json === undefined) {
    const isNote = expects === "acceptance" && !isJson(type) && !text.trimStart().startsWith("<");
    if (isNote) return accepted;
    throw faulty("what is not JSON");
  }
  if (error !== undefined && isFilled(valueAt(json, error.path))) {
    if (error.means === "failed") throw faulty("an error; see provider.errorPath");
    throw notReady(`the provider answered ${status} with an error: not ready`, wait);
  }
  if (expects === "acceptance") return accepted;
  return { found: true, bytes: body, contentType: typeOfData(contentType, type), text, link };
}

const otherReadable = ["text/plain", "application/octet-stream", "binary/octet-stream"];

/** JSON is often served as plain text or bytes, but never as HTML or XML. */
function isReadable(type: MediaType): boolean {
  return isJson(type) || otherReadable.includes(type.essence);
}

/** A failing server does not send these types. The path leads to a file, so a retry would get it again. */
function isFile({ essence }: MediaType): boolean {
  return /^(?:audio|font|image|video)\/|^application\/(?:pdf|zip|vnd\.openxmlformats\b.*)$/.test(essence);
}

function isJson(type: MediaType | undefined): boolean {
  return type !== undefined && /^(?:application|text)\/(?:x-)?json$|\+json$/.test(type.essence);
}

/** The value at a path of names joined by dots. */
function valueAt(value: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (inner, name) =>
        typeof inner === "object" && inner !== null
          ? Object.getOwnPropertyDescriptor(inner, name)?.value
          : undefined,
      value,
    );
}

/** Null, false, 0, blank strings, and empty lists and objects are not errors. */
function isFilled(value: unknown): boolean {
  if (typeof value === "string") return value.trim() !== "";
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** Our own JSON, in the form of a provider's answer. */
export function dataIn(text: string): GivenData {
  return { bytes: Buffer.from(text), contentType: plainJson, text };
}

/** Content types that fit in a header and in a message. */
const printable = /^[\x20-\x7e]{1,200}$/;

/** UTF-8 is the default encoding of JSON (RFC 8259). */
function typeOfData(given: string | undefined, type: MediaType | undefined): string {
  if (given === undefined || type === undefined) return plainJson;
  const { essence, charset = "utf-8" } = type;
  if (essence === plainJson && ["utf-8", "utf8"].includes(charset)) return plainJson;
  if (!isCharset(charset)) return essence;
  return printable.test(given) ? given : `${essence};charset=${charset}`;
}
