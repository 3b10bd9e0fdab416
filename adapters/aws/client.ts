import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { Sha256 } from "@smithy/core/checksum";
import { SignatureV4 } from "@smithy/signature-v4";
import { FailureError, failureOf, permanent, retryable } from "../../domain/core/failures.ts";
import { fieldsOf, isFields, optionalText, parseJson } from "../../domain/core/parse.ts";

/** Middleware whose output nobody uses here: copies for a log, and the user agent. */
const unread = ["loggerMiddleware", "getUserAgentMiddleware"];

/**
 * Removes unused middleware from a client and composes the rest once for each operation. Together this saves a
 * seventh of the cost of a request. The SDK's logger copies each request and response, even if nobody reads them.
 */
export function leanClient<
  Client extends {
    readonly middlewareStack: { readonly remove: (name: string) => boolean };
    readonly config: { cacheMiddleware?: boolean };
  },
>(client: Client): Client {
  for (const name of unread) client.middlewareStack.remove(name);
  client.config.cacheMiddleware = true;
  return client;
}

/**
 * Reads DynamoDB's clock from all later responses of a client.
 * @returns a function that returns the last response's time in milliseconds since 1970, to the second; 0 before the
 * first response
 */
export function serviceClock(client: DynamoDBClient): () => number {
  let latest = 0;
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const headers = isFields(result.response) ? result.response.headers : undefined;
      const time =
        isFields(headers) && typeof headers.date === "string" ? Date.parse(headers.date) : Number.NaN;
      if (!Number.isNaN(time)) latest = time;
      return result;
    },
    { step: "deserialize", priority: "low" },
  );
  return () => latest;
}

const throttled: ReadonlySet<string> = new Set([
  "LimitExceededException",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "ThrottlingException",
]);
const connection: ReadonlySet<string> = new Set([
  "EAI_AGAIN",
  "ECONNRESET",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
]);

/** Whether an error is transient: AWS throttles, has an internal error, or is unreachable. */
export function isTransient(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (throttled.has(error.name) || error.name === "TimeoutError") return true;
  if ("code" in error && typeof error.code === "string" && connection.has(error.code)) return true;
  return "$fault" in error && error.$fault === "server";
}

/** Whether AWS rejected the request itself and would reject it again. Not an outage of AWS or of the network. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof FailureError) return error.failure.type === "permanent";
  return error instanceof Error && "$fault" in error && error.$fault === "client" && !isTransient(error);
}

/** The credentials and region of the caller, as in the configuration of an AWS client. */
export type Caller = Pick<ConstructorParameters<typeof SignatureV4>[0], "credentials" | "region">;

/** Longer than a function may take that a caller waits for. */
const answerTimeoutInMs = 60_000;
/** As many as the SDK makes. */
const maxInvocations = 3;

/** Sends a request to Lambda or to a function's URL, signed with Signature Version 4. */
export async function signedFetch(
  { credentials, region }: Caller,
  url: URL,
  { method, headers, body }: { method: string; headers?: Record<string, string>; body?: string },
): Promise<Response> {
  const signer = new SignatureV4({ credentials, region, sha256: Sha256, service: "lambda" });
  const { protocol, hostname, pathname: path } = url;
  const query = Object.fromEntries(url.searchParams);
  const sent = { method, protocol, hostname, path, query, headers: { ...headers, host: url.host }, body };
  const { host: _, ...signed } = (await signer.sign(sent)).headers;
  const signal = AbortSignal.timeout(answerTimeoutInMs);
  return fetch(url, { method, headers: signed, body: body ?? null, redirect: "error", signal });
}

/**
 * Invokes a function without waiting for its result. The SDK's client would be half as large as a receiver.
 * @param event the function's input
 */
export function backgroundInvoker(caller: Caller, functionName: string, event: object = {}) {
  const { AWS_REGION = "", AWS_ENDPOINT_URL } = process.env;
  const [partition = ""] = AWS_REGION.split("-");
  const suffix = { cn: "amazonaws.com.cn", eusc: "amazonaws.eu" }[partition] ?? "amazonaws.com";
  const lambda = AWS_ENDPOINT_URL ?? `https://lambda.${AWS_REGION}.${suffix}`;
  const url = new URL(`/2015-03-31/functions/${functionName}/invocations`, lambda);
  const headers = { "x-amz-invocation-type": "Event" };
  const request = { method: "POST", headers, body: JSON.stringify(event) };
  return async (): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      const answered = signedFetch(caller, url, request).then(({ status }) => status);
      const outcome = await answered.catch((error: unknown) => failureOf(error).reason);
      if (outcome === 202) return;
      if (attempt === maxInvocations) throw retryable(`Lambda refused an invocation: ${outcome}`);
    }
  };
}

/**
 * Invokes a function by name and waits for it.
 * @returns its result
 * @throws permanent failure with the function's reason if it failed
 */
export async function invokeFunction(client: LambdaClient, name: string, event: object): Promise<unknown> {
  const { FunctionError, Payload } = await client.send(
    new InvokeCommand({ FunctionName: name, Payload: JSON.stringify(event) }),
  );
  const text = Payload?.transformToString() ?? "null";
  if (FunctionError === undefined) return parseJson(text, "the function's result");
  const { errorMessage } = fieldsOf(parseJson(text, "the function's error"), "the function's error");
  throw permanent(optionalText({ errorMessage }, "errorMessage") ?? "it gave no reason");
}
