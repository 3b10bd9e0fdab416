import { buffer } from "node:stream/consumers";
import { permanent, retryable } from "../../domain/core/failures.ts";
import { fieldsOf, optionalText, textOf } from "../../domain/core/parse.ts";
import { problem } from "../../domain/read/problem.ts";
import { type Answer, problemAnswer } from "./answer.ts";
import type { HttpRequest } from "./reader.ts";

/** The function's response to an invocation; `body` is in base64. */
export type InvocationAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Response limit in bytes, less JSON around the body. Source: Lambda developer guide, "Lambda quotas". */
const longestBody = 6_291_556 - 16_384;

/**
 * Parses `{"path": "/v1/…", "acceptEncoding": "gzip", "ifNoneMatch": "…"}`. The caller is the subscriber
 * whose alias was invoked: policies decide who may invoke it, and nothing in the event changes it.
 * @param functionArn the ARN that was invoked
 * @throws permanent failure naming the field, or if no alias was invoked
 */
export function readInvocation(value: unknown, functionArn: string): HttpRequest {
  const event = fieldsOf(value, "event");
  const [path = "", query = ""] = textOf(event, "path").split("?");
  const [, , , , ownAccount = "", , , subscriber] = functionArn.split(":");
  if (subscriber === undefined)
    throw permanent("the function was invoked without an alias: invoke the alias of a subscriber");
  return {
    method: "GET",
    path,
    query,
    headers: {
      "accept-encoding": optionalText(event, "acceptEncoding"),
      "if-none-match": optionalText(event, "ifNoneMatch"),
    },
    caller: { subscriber },
    ownAccount,
    documentsUrl: `${functionArn}/`,
  };
}

/**
 * @throws if the answer is a server error: CloudWatch counts errors of an invoked function, not the statuses
 * of its answers
 */
export async function invocationAnswer({ status, headers, body }: Answer): Promise<InvocationAnswer> {
  if (status >= 500) throw retryable(`the read was answered ${status}`);
  const bytes =
    body === undefined || body instanceof Uint8Array ? (body ?? new Uint8Array()) : await buffer(body);
  const encoded = Buffer.from(bytes).toString("base64");
  if (encoded.length <= longestBody) return { status, headers, body: encoded };
  return invocationAnswer(problemAnswer(problem("too-large")));
}
