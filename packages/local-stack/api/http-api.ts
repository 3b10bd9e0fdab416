import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { ApiPlan, RoutePlan } from "../assembly/plan.ts";
import type { Gateway } from "../gateway/types.ts";
import { type HostedFunction, synchronousPayloadBytes } from "../lambda/hosted-function.ts";
import { type HttpAnswer, httpAnswer, httpEvent, messageAnswer, type ReceivedRequest } from "./http-event.ts";
import { matchRoute } from "./routes.ts";
import { createThrottle, type Throttle } from "./throttle.ts";

export type AccessLogEntry = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The function's name; undefined where no route took the request. */
  readonly function: string | undefined;
};

/** A request and its answer, with the body as it came. */
export type Exchange = {
  readonly path: string;
  readonly body: Buffer;
  readonly status: number;
  /** The key of the route that took it. */
  readonly route: string | undefined;
};

export type HttpApi = {
  /** Origin without a trailing slash. */
  readonly url: string;
  /** The latest requests, oldest first. */
  accessLog(): readonly AccessLogEntry[];
  /** How many requests got which status. */
  statusCounts(): ReadonlyMap<number, number>;
  /** Serves the plan's routes; before that every request waits. */
  serve(plan: ApiPlan, functions: ReadonlyMap<string, HostedFunction>): void;
  close(): Promise<void>;
};

/** HTTP API's limit for a request's body, in bytes. */
const longestBody = 10 * 1024 * 1024;
/** Milliseconds: longer than a caller keeps an idle connection, so that none is closed in its face. */
const keepAliveTimeout = 120_000;
const keptEntries = 10_000;

/**
 * Listens as the stack's HTTP API on loopback.
 * @param port 0: any free one
 * @throws Error where the port is in use
 */
export async function startHttpApi(
  port: number,
  gateway: Pick<Gateway, "authorize" | "region" | "account">,
  onAnswered: (exchange: Exchange) => void = () => {},
): Promise<HttpApi> {
  const entries: AccessLogEntry[] = [];
  const statuses = new Map<number, number>();
  const served = Promise.withResolvers<Served>();

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const received = await readRequest(request);
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    const { answer, name, route } =
      received === undefined
        ? { answer: messageAnswer(413, "Request Entity Too Large"), name: undefined, route: undefined }
        : await answerRequest(received, path, await served.promise, gateway);
    entries.push({ method: request.method ?? "", path, status: answer.status, function: name });
    if (entries.length > keptEntries) entries.shift();
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    onAnswered({ path, body: received?.body ?? Buffer.alloc(0), status: answer.status, route });
    write(response, answer, request.method === "HEAD");
  };

  const server = createServer({ keepAliveTimeout }, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const actualPort = await listen(server, port);
  return {
    url: `http://127.0.0.1:${actualPort}`,
    accessLog: () => entries,
    statusCounts: () => statuses,
    serve: (plan, functions) => served.resolve({ plan, functions, throttle: throttleOf(plan) }),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

type Served = {
  readonly plan: ApiPlan;
  readonly functions: ReadonlyMap<string, HostedFunction>;
  readonly throttle: Throttle;
};
type Authorizer = Pick<Gateway, "authorize" | "region" | "account">;

async function answerRequest(
  request: ReceivedRequest,
  path: string,
  { plan, functions, throttle }: Served,
  gateway: Authorizer,
): Promise<{
  readonly answer: HttpAnswer;
  readonly name: string | undefined;
  readonly route: string | undefined;
}> {
  const route = matchRoute(plan.routes, request.method, path);
  const target = route && functions.get(route.plan.function);
  if (route === undefined || target === undefined) {
    return { answer: messageAnswer(404, "Not Found"), name: undefined, route: undefined };
  }
  const { name } = target.plan;
  const { key } = route.plan;
  const answered = (answer: HttpAnswer) => ({ answer, name, route: key });
  if (!throttle(key)) return answered(messageAnswer(429, "Too Many Requests"));
  if (!mayInvoke(target, { route: route.plan, method: request.method, apiId: plan.id }, gateway)) {
    return answered(messageAnswer(500, "Internal Server Error"));
  }
  const event = JSON.stringify(
    httpEvent(request, { key, parameters: route.parameters }, plan.id, new Date()),
  );
  if (Buffer.byteLength(event) > synchronousPayloadBytes) {
    return answered(messageAnswer(413, "Request Entity Too Large"));
  }
  return answered(await invoke(target, event, route.plan.timeoutMilliseconds));
}

function throttleOf({ throttle }: ApiPlan): Throttle {
  return throttle === undefined ? () => true : createThrottle(throttle, Date.now);
}

/** The function's resource policy decides whether this API may call it by this route. */
function mayInvoke(
  target: HostedFunction,
  { route, method, apiId }: { readonly route: RoutePlan; readonly method: string; readonly apiId: string },
  { authorize, region, account }: Authorizer,
): boolean {
  const path = route.key.split(" ")[1] ?? "/$default";
  const source = `arn:aws:execute-api:${region}:${account}:${apiId}/$default/${method}${path}`;
  const context = { "aws:SourceArn": source, "aws:SourceAccount": account };
  return authorize("apigateway.amazonaws.com", "lambda:InvokeFunction", target.plan.arn, context).allowed;
}

async function invoke(
  target: HostedFunction,
  event: string,
  timeoutMilliseconds: number,
): Promise<HttpAnswer> {
  const abandon = new AbortController();
  const tooLate = wait(timeoutMilliseconds, "too late" as const, { signal: abandon.signal });
  const outcome = await Promise.race([target.invoke(event), tooLate]);
  if (outcome === "too late") return messageAnswer(503, "Service Unavailable");
  tooLate.catch(() => {});
  abandon.abort();
  switch (outcome.kind) {
    case "returned":
      return httpAnswer(outcome.payload);
    case "throttled":
      return messageAnswer(503, "Service Unavailable");
    case "failed":
      return messageAnswer(500, "Internal Server Error");
  }
}

/** Undefined where the body is over the limit; the rest of it is read and dropped, so that the answer arrives. */
function readRequest(request: IncomingMessage): Promise<ReceivedRequest | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= longestBody) chunks.push(chunk);
      else chunks.length = 0;
    });
    request.on("error", reject);
    request.on("end", () => {
      if (bytes > longestBody) return resolve(undefined);
      resolve({
        method: request.method ?? "",
        target: request.url ?? "/",
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks),
        sourceIp: request.socket.remoteAddress ?? "127.0.0.1",
      });
    });
  });
}

function write(response: ServerResponse, answer: HttpAnswer, isHead: boolean): void {
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(answer.cookies.length > 0 && { "set-cookie": [...answer.cookies] }),
    "content-length": answer.body.length,
  });
  response.end(isHead ? undefined : answer.body);
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === "EADDRINUSE";
      reject(
        isTaken
          ? new Error(
              `Port ${port} is in use, so the HTTP API can't listen on it: choose another port, or 0 for any free one`,
            )
          : error,
      );
    });
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
