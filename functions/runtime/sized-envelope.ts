import type { OverflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import { type Envelope, inlineLimitInBytes, writeEnvelope } from "../../domain/event/envelope.ts";

/** An envelope that fits into a message or an item, and its text. */
export type SizedEnvelope = { readonly envelope: Envelope; readonly message: string };

/** Moves a body that is too large to the overflow bucket, and leaves a pointer in its place. */
export async function sizedEnvelope(
  envelope: Envelope,
  overflow: Pick<OverflowBucket, "put">,
): Promise<SizedEnvelope> {
  const message = writeEnvelope(envelope);
  const { body, kind, id } = envelope;
  if (Buffer.byteLength(message) <= inlineLimitInBytes || (body.type !== "text" && body.type !== "base64")) {
    return { envelope, message };
  }
  const content = body.type === "text" ? body.text : body.base64;
  const key = `bodies/${kind}/${id}`;
  await overflow.put(key, content);
  const pointer = { type: "object", key, encoding: body.type, bytes: Buffer.byteLength(content) } as const;
  const sized = { ...envelope, body: pointer };
  return { envelope: sized, message: writeEnvelope(sized) };
}
