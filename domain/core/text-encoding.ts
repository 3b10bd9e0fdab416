const marks: readonly (readonly [format: "gzip" | "zstd" | "deflate", bytes: readonly number[]])[] = [
  ["gzip", [0x1f, 0x8b]],
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ...[0x01, 0x5e, 0x9c, 0xda].map((level) => ["deflate", [0x78, level]] as const),
];

/** The compression format that the first bytes indicate. Brotli and raw deflate have no signature. */
export function compressionFormatOf(bytes: Uint8Array): "gzip" | "zstd" | "deflate" | undefined {
  return marks.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))?.[0];
}

/** The parts of a content type, in lower case. */
export type MediaType = { readonly essence: string; readonly charset?: string };

const tokens = /^[!#$%&'*+.^_`|~0-9a-z-]{1,60}\/[!#$%&'*+.^_`|~0-9a-z-]{1,60}$/;

/** Parses a `Content-Type`; undefined if it is missing or invalid. */
export function mediaTypeOf(contentType: string | undefined): MediaType | undefined {
  const [first = "", ...parameters] = (contentType ?? "").toLowerCase().split(";");
  const essence = first.trim();
  if (!tokens.test(essence)) return undefined;
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*["']?([^"']*?)["']?\s*$/.exec(parameter)?.[1])
    .find((name) => name !== undefined && name !== "");
  return charset === undefined ? { essence } : { essence, charset };
}

const asciiNames = ["us-ascii", "ascii"];
const utf16Marks = [
  { bytes: [0xff, 0xfe], charset: "utf-16le" },
  { bytes: [0xfe, 0xff], charset: "utf-16be" },
] as const;

/**
 * Decodes JSON text without its byte order mark: by the given charset, else as UTF-16 or UTF-8 by its first bytes.
 * Charset names are those of the WHATWG Encoding Standard.
 * @returns undefined if the charset is unknown or the bytes are invalid in it
 */
export function decodeText(bytes: Uint8Array, charset?: string): string | undefined {
  if (charset !== undefined && asciiNames.includes(charset) && bytes.some((byte) => byte > 0x7f))
    return undefined;
  try {
    return new TextDecoder(charsetOf(bytes, charset), { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Without a charset, and for `utf-16`, the byte order mark decides. Without one, the zero byte of the first
 * character does, because it is ASCII in JSON.
 */
function charsetOf(bytes: Uint8Array, claimed: string | undefined): string {
  if (claimed !== undefined && claimed !== "utf-16") return claimed;
  const marked = utf16Marks.find((mark) => mark.bytes.every((byte, index) => bytes[index] === byte));
  if (marked !== undefined) return marked.charset;
  if (bytes[0] === 0) return "utf-16be";
  return claimed === "utf-16" || bytes[1] === 0 ? "utf-16le" : "utf-8";
}

export const plainJson = "application/json";
