/** A content type's parts, in lower case. */
export type MediaType = { readonly essence: string; readonly charset?: string };

const tokens = /^[!#$%&'*+.^_`|~0-9a-z-]{1,60}\/[!#$%&'*+.^_`|~0-9a-z-]{1,60}$/;

/** Reads a `Content-Type`; undefined where there is none, or it is none. */
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
 * Decodes text, without its byte order mark: by the charset that it claims, else by its mark, else as UTF-8.
 * Names of charsets are those of the WHATWG's encoding standard.
 * @returns undefined where the charset is unknown, or the bytes are not valid in it
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

/** `utf-16` leaves the order of bytes to the mark; without one the first character tells, which is ASCII in JSON. */
function charsetOf(bytes: Uint8Array, claimed: string | undefined): string {
  if (claimed !== undefined && claimed !== "utf-16") return claimed;
  const marked = utf16Marks.find((mark) => mark.bytes.every((byte, index) => bytes[index] === byte));
  if (marked !== undefined) return marked.charset;
  if (claimed === undefined) return "utf-8";
  return bytes[0] === 0 ? "utf-16be" : "utf-16le";
}
