import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { Sha256 } from "@smithy/core/checksum";
import { SignatureV4 } from "@smithy/signature-v4";
import { failureOf, permanent, retryable } from "../../domain/core/failures.ts";
import { fieldsOf, optionalText, parseJson } from "../../domain/core/parse.ts";

/** The credentials and region of the caller, as in the configuration of an AWS client. */
export type Caller = Pick<ConstructorParameters<typeof SignatureV4>[0], "credentials" | "region">;

/** Longer than a function may take that a caller waits for. */
const answerTimeoutInMs = 60_000;
/** As many as the SDK makes. */
const maxAttempts = 3;

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
      if (attempt === maxAttempts) throw retryable(`Lambda refused an invocation: ${outcome}`);
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
