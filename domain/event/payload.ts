import { jsonIn } from "../core/parse.ts";
import { decodeUtf8 } from "./envelope.ts";
import { decodeText, endOfString, endOfValue, isTooDeep, mediaTypeOf, type Span, skipSpace } from "./json.ts";
import type { MappedHeaders } from "./mapping-source.ts";
import { escapePattern } from "./subjects.ts";

/**
 * Removes fields from JSON text by name, at any depth. The rest of the text is unchanged. Uses no more memory
 * than the text itself.
 * @param text valid JSON; not checked here
 * @param names in lower case; the text may use any case
 * @returns undefined if no field matches
 */
export function withoutFields(text: string, names: ReadonlySet<string>): string | undefined {
  const parts: string[] = [];
  let done = 0;
  for (const { start, end } of fieldsIn(text, names)) {
    if (start > done) parts.push(text.slice(done, start));
    done = Math.max(done, end);
  }
  return done === 0 ? undefined : parts.join("") + text.slice(done);
}

/**
 * The spans of matching fields, each with the comma to remove. Sorted by start; the longest span of a start
 * is last.
 */
function* fieldsIn(text: string, names: ReadonlySet<string>): Generator<Span> {
  /** The lists and objects that contain the current position. */
  const open: {
    readonly isObject: boolean;
    /** Where its first member or element may start. */
    readonly start: number;
    /** Where the last kept member ends; absent before the first. */
    keptEnd?: number;
    /** Whether the next string is a member's name. */
    isBeforeName: boolean;
  }[] = [];
  const end = (at: number) => {
    const around = open.at(-1);
    if (around !== undefined) around.keptEnd = at;
    return at;
  };
  for (let at = 0; at < text.length; ) {
    const around = open.at(-1);
    const character = text.charAt(at);
    if (character === '"' && around?.isBeforeName) {
      const nameEnd = endOfString(text, at);
      const value = skipSpace(text, skipSpace(text, nameEnd) + 1);
      around.isBeforeName = false;
      if (!names.has(nameAt(text, at, nameEnd).toLowerCase())) {
        at = value;
        continue;
      }
      const valueEnd = endOfValue(text, value);
      const after = skipSpace(text, valueEnd);
      const isLast = text[after] !== ",";
      at = isLast ? after : skipSpace(text, after + 1);
      around.isBeforeName = !isLast;
      yield around.keptEnd === undefined
        ? { start: around.start, end: isLast ? valueEnd : at }
        : { start: around.keptEnd, end: valueEnd };
    } else if (character === "{" || character === "[") {
      const isObject = character === "{";
      at += 1;
      open.push({ isObject, start: at, isBeforeName: isObject });
    } else if (character === "}" || character === "]") {
      open.pop();
      at = end(at + 1);
    } else if (character === ",") {
      if (around !== undefined) around.isBeforeName = around.isObject;
      at += 1;
    } else if (/[\s:]/.test(character)) at += 1;
    else at = end(endOfValue(text, at));
  }
}

function nameAt(text: string, start: number, end: number): string {
  const written = text.slice(start + 1, end - 1);
  return written.includes("\\") ? String(JSON.parse(text.slice(start, end))) : written;
}

/** A body that parses as JSON, or the reason why it does not. `error` never quotes the body. */
export type Payload =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly error: string };

/**
 * Fields to drop before the body is stored or sent. They hold live credentials, as in user events.
 * @param names field names in any case
 */
export function credentialFields(names: readonly string[]) {
  const any = names.map(escapePattern).join("|");
  const pattern = new RegExp(`"(${any})"|\\\\u`, "i");
  return {
    /** In lower case. */
    names: new Set(names.map((name) => name.toLowerCase())),
    /** Whether a text may contain such a field. True for any `\u` escape, which may hide a letter of a name. */
    mayBeIn: (text: string) => names.length > 0 && pattern.test(text),
  };
}

/** The credential fields of the default provider. */
export const defaultCredentialFields = ["link", "session"];

/**
 * Converts a body to UTF-8 without a byte order mark; a body that already is UTF-8 keeps its bytes. UTF-16 is
 * recognized by its byte order mark or zero bytes, another charset by the content type. A body that is not
 * JSON in any of these is unchanged.
 * @param bytes with content codings removed
 */
export function asUtf8(bytes: Uint8Array, contentType: string | undefined): Uint8Array {
  const text = decodeUtf8(bytes);
  if (text !== undefined && !text.includes("\0"))
    return text.startsWith("\uFEFF") ? bytes.subarray(3) : bytes;
  for (const charset of [mediaTypeOf(contentType)?.charset, undefined]) {
    const decoded = decodeText(bytes, charset);
    if (decoded !== undefined && jsonIn(decoded) !== undefined) return Buffer.from(decoded);
  }
  return bytes;
}

/**
 * Checks that a body is JSON and drops credential fields at any depth and in any case. A body without such
 * fields keeps its bytes. An empty body counts as null if mapped headers report the event.
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

// The engine's message quotes the body, which may hold a credential, so report only the position. The body
// may contain "at position 5" itself: match at the end, because messages that quote end differently.
const positionAtTheEnd = /in JSON at position (\d+) \(line \d+ column \d+\)$/;

function describe(error: unknown): string {
  if (error instanceof RangeError) return "nested too deeply";
  const position = error instanceof Error ? positionAtTheEnd.exec(error.message)?.[1] : undefined;
  return position === undefined ? "not JSON" : `not JSON at position ${position}`;
}

const marks: readonly (readonly [format: "gzip" | "zstd" | "deflate", bytes: readonly number[]])[] = [
  ["gzip", [0x1f, 0x8b]],
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ...[0x01, 0x5e, 0x9c, 0xda].map((level) => ["deflate", [0x78, level]] as const),
];

/** The compression format that the first bytes indicate. Brotli and raw deflate have no signature. */
export function compressionFormatOf(bytes: Uint8Array): "gzip" | "zstd" | "deflate" | undefined {
  return marks.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))?.[0];
}
