import { gunzipSync } from "node:zlib";
import { z } from "zod";

const stored = z.object({
  document: z.object({
    codec: z.enum(["gzip", "identity"]).optional(),
    content: z.instanceof(Uint8Array).optional(),
  }),
});

/** Data in a document's item itself; undefined if it is elsewhere. */
export function contentIn(item: unknown): unknown {
  const { codec, content } = stored.parse(item).document;
  if (content === undefined) return undefined;
  return JSON.parse(Buffer.from(codec === "gzip" ? gunzipSync(content) : content).toString());
}
