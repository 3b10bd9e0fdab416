import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { UrlPlan } from "../assembly/plan.ts";
import type { Gateway, Principal } from "../gateway/types.ts";
import type { HostedFunction } from "../lambda/hosted-function.ts";
import { httpAnswer, httpEvent, messageAnswer } from "./http-event.ts";
import { type StreamedHead, streamedAnswer } from "./streamed-answer.ts";

/** The URL of one function, on a port of its own. */
export type FunctionUrl = {
  /** With a slash at its end, as in AWS. */
  readonly url: string;
  /** Serves the function; before that every request waits. */
  serve(target: HostedFunction): void;
  close(): Promise<void>;
};

type Authorizer = Pick<Gateway, "identifyCaller" | "authorize" | "account">;

/** Lambda's limit for a request, in bytes. */
const longestBody = 6 * 1024 * 1024;

/**
 * Listens as the URL of a function on loopback. The caller signs with Signature Version 4, and needs both permissions
 * that function URLs ask for.
 * Source: Lambda developer guide, "Control access to Lambda function URLs", "Invoking Lambda function URLs".
 */
export async function startFunctionUrl(plan: UrlPlan, gateway: Authorizer): Promise<FunctionUrl> {
  const served = Promise.withResolvers<HostedFunction>();
  const server = createServer((request, response) => {
    answer(request, response, { plan, gateway, target: served.promise }).catch(() => response.destroy());
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/`,
    serve: served.resolve,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
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
  const body = await bodyOf(request);
  const head = (answered: StreamedHead) => void response.writeHead(answered.status, answered.headers);
  const refuse = (status: number, message: string) => {
    const { headers, body: text } = messageAnswer(status, message);
    head({ status, headers: { ...headers, "content-length": String(text.byteLength) } });
    response.end(text);
  };
  if (body === undefined) return refuse(413, "Request Entity Too Large");
  const received = { method: request.method ?? "", target: request.url ?? "/", body };
  const caller = gateway.identifyCaller({ ...received, headers: request.headers });
  if ("errorType" in caller) return refuse(caller.status, caller.message);
  const host = await target;
  if (!mayInvoke(caller, host, gateway)) return refuse(403, "Forbidden");
  const { remoteAddress = "127.0.0.1" } = request.socket;
  const sent = { ...received, rawHeaders: request.rawHeaders, sourceIp: remoteAddress };
  const event = JSON.stringify(eventOf(sent, plan, caller));
  const streamed = streamedAnswer(head, (chunk) => void response.write(chunk));
  const outcome = await host.invoke(event, [], plan.streams ? streamed.take : undefined);
  if (outcome.kind === "throttled") return refuse(429, "Too Many Requests");
  if (streamed.hasBegun()) {
    // Half of an answer must not pass for the whole.
    if (outcome.kind === "failed") response.destroy();
    else response.end();
    return;
  }
  if (outcome.kind === "failed" || plan.streams) return refuse(502, "Internal Server Error");
  const { status, headers, body: text } = httpAnswer(outcome.payload);
  head({ status, headers: { ...headers, "content-length": String(text.byteLength) } });
  response.end(request.method === "HEAD" ? undefined : text);
}

/** By the caller's own policies, or the function's. */
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

/** A role is known by its session: without its path. */
function sessionArn(arn: string): string {
  const [, account = "", path = ""] = /^arn:aws:iam::(\d{12}):role\/(.+)$/.exec(arn) ?? [];
  return path === "" ? arn : `arn:aws:sts::${account}:assumed-role/${path.split("/").at(-1)}/local`;
}

/** Undefined where it is over the limit; the rest of it is read and dropped, so that the answer arrives. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part = Buffer.from(chunk);
    bytes += part.byteLength;
    if (bytes <= longestBody) chunks.push(part);
  }
  return bytes <= longestBody ? Buffer.concat(chunks) : undefined;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}
