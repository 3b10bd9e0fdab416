import type { Readable } from "node:stream";
import type { Problem } from "../../domain/read/problem.ts";

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | Readable;
};

/** Callers may cache an answer privately, and must revalidate it before each use. */
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
