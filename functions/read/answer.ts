import type { Readable } from "node:stream";
import type { Problem } from "../../domain/read/problem.ts";

/** An answer of the read API. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | Readable;
};

/** What a caller keeps is its own, and asked for again before it is used. */
export const cacheControl = { "cache-control": "private, no-cache" };

const retryAfterSeconds = 1;

export function problemAnswer(problem: Problem): Answer {
  const { status, newest } = problem;
  return {
    status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...(newest !== undefined && { link: `<${newest}>; rel="latest-version"` }),
      ...(status === 503 && { "retry-after": String(retryAfterSeconds) }),
      ...(status === 405 && { allow: "GET, HEAD" }),
    },
    body: Buffer.from(JSON.stringify(problem)),
  };
}

export function jsonAnswer(value: object): Answer {
  return {
    status: 200,
    headers: { "content-type": "application/json", ...cacheControl },
    body: Buffer.from(JSON.stringify(value)),
  };
}
