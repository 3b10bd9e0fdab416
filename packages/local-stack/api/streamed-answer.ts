import type { OutgoingHttpHeaders } from "node:http";
import { z } from "zod";

/** Status and headers, which a function that streams sends first. */
export type StreamedHead = { readonly status: number; readonly headers: OutgoingHttpHeaders };

export type StreamedAnswer = {
  readonly take: (chunk: Buffer) => void;
  /** Whether the head is there. */
  readonly hasBegun: () => boolean;
};

const endOfMetadata = Buffer.alloc(8);
const metadataSchema = z.object({
  statusCode: z.number().int().min(100).max(599).default(200),
  headers: z.record(z.string(), z.union([z.string(), z.number()]).transform(String)).default({}),
  cookies: z.array(z.string()).default([]),
});

/**
 * Takes the parts of a streamed answer: metadata as JSON, eight zero bytes, and then the body.
 * Source: Lambda developer guide, "Response streaming for Lambda functions".
 */
export function streamedAnswer(
  onHead: (head: StreamedHead) => void,
  onBody: (chunk: Buffer) => void,
): StreamedAnswer {
  let before: Buffer | undefined = Buffer.alloc(0);
  return {
    take: (chunk) => {
      if (before === undefined) return onBody(chunk);
      before = Buffer.concat([before, chunk]);
      const end = before.indexOf(endOfMetadata);
      if (end < 0) return;
      const metadata: unknown = JSON.parse(before.subarray(0, end).toString());
      const { statusCode, headers, cookies } = metadataSchema.parse(metadata);
      const withCookies = cookies.length === 0 ? headers : { ...headers, "set-cookie": cookies };
      onHead({ status: statusCode, headers: withCookies });
      const rest = before.subarray(end + endOfMetadata.byteLength);
      before = undefined;
      if (rest.byteLength > 0) onBody(rest);
    },
    hasBegun: () => before === undefined,
  };
}
