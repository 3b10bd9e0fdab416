import { brotliCompressSync, deflateRawSync, gzipSync, zstdCompressSync } from "node:zlib";

/** Encodings of an answer: a content coding, or a charset other than UTF-8. */
export const answerEncodings = ["gzip", "deflate", "br", "zstd", "bom", "iso-8859-1", "utf-16"] as const;
export type AnswerEncoding = (typeof answerEncodings)[number];

export type EncodedAnswer = { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> };

const json = "application/json";
const byteOrderMark = "\uFEFF";

export function encoded(text: string, encoding: AnswerEncoding): EncodedAnswer {
  const coded = (body: Buffer) => ({ body, headers: { "content-encoding": encoding } });
  switch (encoding) {
    case "gzip":
      return coded(gzipSync(text));
    // Without the zlib header, as some servers send it.
    case "deflate":
      return coded(deflateRawSync(text));
    case "br":
      return coded(brotliCompressSync(text));
    case "zstd":
      return coded(zstdCompressSync(text));
    case "bom":
      return { body: Buffer.from(byteOrderMark + text), headers: { "content-type": json } };
    case "iso-8859-1":
      return { body: latin1(text), headers: { "content-type": `${json}; charset=ISO-8859-1` } };
    case "utf-16": {
      const body = Buffer.from(byteOrderMark + text, "utf16le").swap16();
      return { body, headers: { "content-type": `${json}; charset=utf-16` } };
    }
  }
}

/** Escapes characters outside ISO-8859-1, as JSON allows. */
function latin1(text: string): Buffer {
  const escaped = text.replace(
    /[\u0100-\uFFFF]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return Buffer.from(escaped, "latin1");
}
