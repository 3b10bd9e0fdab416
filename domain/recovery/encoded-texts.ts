import { gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import { compressionFormatOf } from "../event/payload.ts";

/** Decodes the encoded parts of a text. The caller must search the results for nested encodings. */
export function encodedTexts(text: string): readonly string[] {
  const decoded = /[\0%&]/.test(text) ? withoutReferences(withoutPercents(withoutZeros(text))) : text;
  // Digits and dashes alone are an unencoded id; ids and JSON in base64 contain capital letters.
  const mayBeBase64 = text.length >= leastBase64 && /[A-Z]/.test(text);
  return [...(decoded === text ? [] : [decoded]), ...(mayBeBase64 ? inBase64(text) : []), ...inHex(text)];
}

/** Removes zeros, which occur in UTF-16 that was read as UTF-8. */
function withoutZeros(text: string): string {
  return text.replaceAll("\0", "");
}

/**
 * Decodes percent-encoding except `%2F`, `%23`, `%26`, `%3D` and `%3F`, which belong to a value that the
 * plain character would end.
 */
function withoutPercents(text: string): string {
  return text.replace(/%(?!2[36F]|3[DF])([0-7][0-9A-F])/gi, (_, hex: string) => character(hex, 16));
}

const named: Readonly<Record<string, string>> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' };

/** Decodes character references of XML and HTML. */
function withoutReferences(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,4})|#(\d{1,5})|(amp|apos|gt|lt|quot));/gi,
    (whole, hex, digits, name) => {
      if (name !== undefined) return named[String(name).toLowerCase()] ?? whole;
      return hex === undefined ? character(digits, 10) : character(hex, 16);
    },
  );
}

function character(code: string, radix: number): string {
  return String.fromCharCode(Number.parseInt(code, radix));
}

/**
 * Base64 in either alphabet, in one piece or in lines of at least 60 characters. Shorter text can't contain
 * an id that is recognizable within a text.
 */
const base64 = /(?:[\w+/-]{60,}\s+)*[\w+/-]{11,}={0,2}/g;
const leastBase64 = 11;
const utf8 = new TextDecoder("utf-8", { fatal: true });
const printable = /[\t\n\r\x20-\x7e]{20,}/g;

function inBase64(text: string): readonly string[] {
  return Array.from(text.matchAll(base64)).flatMap(([run]) => {
    if (!/[A-Z]/.test(run)) return [];
    // The match may start with other text in the same alphabet, such as a path, so try all alignments.
    return [0, 1, 2, 3].flatMap((start) => textsIn(Buffer.from(run.slice(start), "base64")));
  });
}

/** Hexadecimal digits of at least as many bytes as the shortest base64 has. */
const hex = /[0-9a-f]{16,}/gi;

function inHex(text: string): readonly string[] {
  return Array.from(text.matchAll(hex)).flatMap(([run]) =>
    // The match may start with a letter of other text.
    [0, 1].flatMap((start) => textsIn(Buffer.from(run.slice(start), "hex"))),
  );
}

/** For bytes that are not text, returns the printable parts that are too long to be coincidental. */
function textsIn(bytes: Buffer): readonly string[] {
  const whole = textOf(inflated(bytes) ?? bytes);
  return whole === undefined ? (bytes.toString("latin1").match(printable) ?? []) : [whole];
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

const decoders = { gzip: gunzipSync, zstd: zstdDecompressSync, deflate: inflateSync };
const limit = { maxOutputLength: 4 * 1024 * 1024 };

/** @returns undefined if the bytes are not compressed, or decompress to more than the limit */
function inflated(bytes: Uint8Array): Uint8Array | undefined {
  const format = compressionFormatOf(bytes);
  try {
    return format && decoders[format](bytes, limit);
  } catch {
    return undefined;
  }
}
