import { escapePattern } from "../core/escape-pattern.ts";
import { decodeText, mediaTypeOf } from "../core/text-encoding.ts";
import { decodeUtf8 } from "./envelope.ts";
import { isTooDeep } from "./json-source.ts";
import type { MappedHeaders } from "./mapping-source.ts";
import { withoutFields } from "./without-fields.ts";

/** A body that was read as JSON, or why it was not. `error` never quotes the body. */
export type Payload =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly error: string };

/** Whether fields are dropped before the body goes anywhere, for they are live credentials. User events have such. */
export type CredentialFields = {
  /** In lower case. */
  readonly names: ReadonlySet<string>;
  /** Whether a text may have such a field; any letter of a name may be escaped. */
  readonly mayBeIn: (text: string) => boolean;
};

/** @param names of fields, in any case */
export function credentialFields(names: readonly string[]): CredentialFields {
  const any = names.map(escapePattern).join("|");
  const pattern = new RegExp(`"(${any})"|\\\\u`, "i");
  return {
    names: new Set(names.map((name) => name.toLowerCase())),
    mayBeIn: (text) => names.length > 0 && pattern.test(text),
  };
}

/** Those of the provider whose interface is the default. */
export const defaultCredentialFields = ["link", "session"];

/**
 * A body in UTF-8 without a byte order mark: the bytes as they came where they are that. UTF-16 is recognized by its mark
 * or its zero bytes, another charset by the content type; what is no JSON in these stays as it came.
 * @param bytes without content codings
 */
export function asUtf8(bytes: Uint8Array, contentType: string | undefined): Uint8Array {
  const text = decodeUtf8(bytes);
  if (text !== undefined && !text.includes("\0"))
    return text.startsWith("\uFEFF") ? bytes.subarray(3) : bytes;
  for (const charset of [mediaTypeOf(contentType)?.charset, "utf-16"]) {
    const decoded = decodeText(bytes, charset);
    if (decoded !== undefined && isJson(decoded)) return Buffer.from(decoded);
  }
  return bytes;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Checks that a body is JSON and drops live credentials, at any depth and in any case, whatever path it came by; what
 * holds none keeps its bytes as they are. An event that its mapped headers report may have no body: it counts as null.
 */
export function inspectPayload(
  bytes: Uint8Array,
  headers: MappedHeaders = {},
  credentials = credentialFields(defaultCredentialFields),
): Payload {
  if (bytes.length === 0 && Object.keys(headers).length > 0) return { ok: true, bytes: Buffer.from("null") };
  const text = decodeUtf8(bytes);
  if (text === undefined) return { ok: false, error: "not UTF-8" };
  try {
    JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    return { ok: false, error: describe(error) };
  }
  if (isTooDeep(text)) return { ok: false, error: "nested too deeply" };
  const without = credentials.mayBeIn(text) ? withoutFields(text, credentials.names) : undefined;
  return { ok: true, bytes: without === undefined ? bytes : Buffer.from(without) };
}

// The engine's own message quotes the body, which may hold a credential; only the position may be reported. A body
// can say "at position 5" itself, so only the end of the message counts: messages that quote end otherwise.
const positionAtTheEnd = /in JSON at position (\d+) \(line \d+ column \d+\)$/;

function describe(error: unknown): string {
  if (error instanceof RangeError) return "nested too deeply";
  const position = error instanceof Error ? positionAtTheEnd.exec(error.message)?.[1] : undefined;
  return position === undefined ? "not JSON" : `not JSON at position ${position}`;
}
