import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { type Caller, signedFetch } from "./client.ts";

/** The read API's response. Fields are absent if the response does not contain them. */
export type ReadAnswer = {
  readonly status: number;
  /** Of the document's uncompressed bytes, in lower-case hex. */
  readonly sha256: string;
  /** The `type` of problem details. */
  readonly problem?: string;
  /** The address of the newest version. */
  readonly newest?: string;
  /** When the document was observed, in milliseconds since 1970, to the second. */
  readonly observedAt?: number;
};

/**
 * Calls a function's URL, signed with Signature Version 4. If the address is an alias's ARN, invokes the function
 * instead.
 * @returns a function that reads an address of the read API, and throws if there is no response
 */
export function documentReads(caller: Caller, lambda: () => LambdaClient) {
  return async (href: string): Promise<ReadAnswer> => {
    if (href.startsWith("arn:")) return answerOf(await invoke(href, lambda()));
    // fetch requests gzip and decompresses it.
    return answerOf(await signedFetch(caller, new URL(href), { method: "GET" }));
  };
}

/** Returns the result as if a URL had returned it. */
async function invoke(href: string, lambda: LambdaClient): Promise<Response> {
  const [, FunctionName, path] = /^([^/]+)(\/.*)$/.exec(href) ?? [];
  const command = new InvokeCommand({
    FunctionName,
    Payload: JSON.stringify({ path, acceptEncoding: "gzip" }),
  });
  const { FunctionError, Payload = new Uint8Array() } = await lambda.send(command);
  if (FunctionError !== undefined) return new Response(null, { status: 500 });
  const { status, headers, body } = Object(JSON.parse(Buffer.from(Payload).toString()));
  const sent = Buffer.from(String(body), "base64");
  const bytes = headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
  return new Response(status === 304 ? null : new Uint8Array(bytes), { status, headers });
}

async function answerOf(response: Response): Promise<ReadAnswer> {
  const { status, headers } = response;
  const hash = createHash("sha256");
  let problem: string | undefined;
  if (status === 200) for await (const chunk of response.body ?? []) hash.update(chunk);
  else problem = /"type":"([^"]+)"/.exec(await response.text())?.[1];
  const newest = /^<([^>]+)>; rel="latest-version"$/.exec(headers.get("link") ?? "")?.[1];
  const observedAt = Date.parse(headers.get("last-modified") ?? "");
  return {
    status,
    sha256: hash.digest("hex"),
    ...(problem !== undefined && { problem }),
    ...(newest !== undefined && { newest }),
    ...(Number.isNaN(observedAt) ? {} : { observedAt }),
  };
}
