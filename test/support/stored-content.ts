import { gunzipSync } from "node:zlib";
import { z } from "zod";

const stored = z.object({
  document: z.object({
    codec: z.enum(["gzip", "identity"]).optional(),
    content: z.instanceof(Uint8Array).optional(),
  }),
});

/** The data that lies in a document's item itself; undefined where it has none there. */
export function contentIn(item: unknown): unknown {
  const { codec, content } = stored.parse(item).document;
  if (content === undefined) return undefined;
  return JSON.parse(Buffer.from(codec === "gzip" ? gunzipSync(content) : content).toString());
}
