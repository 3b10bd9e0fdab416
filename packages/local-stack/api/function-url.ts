import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import { z } from "zod";
import type { UrlPlan } from "../assembly/plan.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Principal } from "../gateway/types.ts";
import { bodyOf, closeServer, listen, writeAnswer } from "../http-server.ts";
import type { HostedFunction } from "../lambda/hosted-function.ts";
import { httpAnswer, httpEvent, messageAnswer, receivedRequest } from "./http-event.ts";

export type FunctionUrl = Awaited<ReturnType<typeof startFunctionUrl>>;

type Authorizer = Pick<Gateway, "identifyCaller" | "authorize" | "account">;

/** Lambda's limit for a request, in bytes. */
const longestBody = 6 * 1024 * 1024;

/**
 * Serves a function URL on loopback. Callers sign with Signature Version 4 and need both permissions that
 * function URLs require.
 * Source: Lambda developer guide, "Control access to Lambda function URLs", "Invoking Lambda function URLs".
 */
export async function startFunctionUrl(
  plan: UrlPlan,
  gateway: Authorizer,
  onAnswered: (target: HostedFunction, status: number) => void,
) {
  const served = Promise.withResolvers<HostedFunction>();
  const server = createServer((request, response) => {
    response.once("finish", () => void served.promise.then((host) => onAnswered(host, response.statusCode)));
    answer(request, response, { plan, gateway, target: served.promise }).catch(() => response.destroy());
  });
  const port = await listen(server);
  return {
    /** With a slash at its end, as in AWS. */
    url: `http://127.0.0.1:${port}/`,
    /** Sets the function to serve. Requests wait until then. */
    serve: served.resolve,
    close: () => closeServer(server),
  };
}

type Context = {
  readonly plan: UrlPlan;
  readonly gateway: Authorizer;
  readonly target: Promise<HostedFunction>;
};

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { plan, gateway, target }: Context,
): Promise<void> {
  const body = await bodyOf(request, longestBody);
  const refuse = (status: number, message: string) => writeAnswer(response, messageAnswer(status, message));
  if (body === undefined) return refuse(413, "Request Entity Too Large");
  const received = receivedRequest(request, body);
  const caller = gateway.identifyCaller({ ...received, headers: request.headers });
  if ("errorType" in caller) return refuse(caller.status, caller.message);
  const host = await target;
  if (!mayInvoke(caller, host, gateway)) return refuse(403, "Forbidden");
  const event = JSON.stringify(eventOf(received, plan, caller));
  const head = (answered: StreamedHead) => void response.writeHead(answered.status, answered.headers);
  const streamed = streamedAnswer(head, (chunk) => void response.write(chunk));
  const outcome = await host.invoke(event, [], plan.streams ? streamed.take : undefined);
  if (outcome.kind === "throttled") return refuse(429, "Too Many Requests");
  if (streamed.hasBegun()) {
    // A client must not take half an answer for a complete one.
    if (outcome.kind === "failed") response.destroy();
    else response.end();
    return;
  }
  if (outcome.kind === "failed" || plan.streams) return refuse(502, "Internal Server Error");
  writeAnswer(response, httpAnswer(outcome.payload));
}

/** Checks the caller's own policies and the function's resource policy. */
function mayInvoke(
  { name }: Principal,
  { plan: { arn } }: HostedFunction,
  { authorize }: Authorizer,
): boolean {
  return (
    authorize(name, "lambda:InvokeFunctionUrl", arn, { "lambda:FunctionUrlAuthType": "AWS_IAM" }).allowed &&
    authorize(name, "lambda:InvokeFunction", arn, { "lambda:InvokedViaFunctionUrl": "true" }).allowed
  );
}

function eventOf(request: Parameters<typeof httpEvent>[0], { url }: UrlPlan, caller: Principal) {
  const domainName = new URL(url).hostname;
  const [apiId = ""] = domainName.split(".");
  const event = httpEvent(request, { key: "$default", parameters: {} }, apiId, new Date());
  const [, , , , accountId = ""] = caller.arn.split(":");
  const userArn = sessionArn(caller.arn);
  const iam = {
    accessKey: caller.accessKeyId,
    accountId,
    callerId: caller.name,
    userArn,
    userId: caller.name,
  };
  const requestContext = { ...event.requestContext, accountId, domainName, authorizer: { iam } };
  return { ...event, requestContext };
}

/** Policies see a role by its session's ARN, which has no path. */
function sessionArn(arn: string): string {
  const [, account = "", path = ""] = /^arn:aws:iam::(\d{12}):role\/(.+)$/.exec(arn) ?? [];
  return path === "" ? arn : `arn:aws:sts::${account}:assumed-role/${path.split("/").at(-1)}/local`;
}

type StreamedHead = { readonly status: number; readonly headers: OutgoingHttpHeaders };

const endOfMetadata = Buffer.alloc(8);
const metadataSchema = z.object({
  statusCode: z.number().int().min(100).max(599).default(200),
  headers: z.record(z.string(), z.union([z.string(), z.number()]).transform(String)).default({}),
  cookies: z.array(z.string()).default([]),
});

/**
 * Parses a streamed answer: metadata as JSON, eight zero bytes, then the body.
 * Source: Lambda developer guide, "Response streaming for Lambda functions".
 */
function streamedAnswer(onHead: (head: StreamedHead) => void, onBody: (chunk: Buffer) => void) {
  let before: Buffer | undefined = Buffer.alloc(0);
  return {
    take: (chunk: Buffer) => {
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
