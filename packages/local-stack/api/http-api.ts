import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { ApiPlan, RoutePlan } from "../assembly/plan.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { type Answer, bodyOf, closeServer, keepAliveTimeout, listen, writeAnswer } from "../http-server.ts";
import { type HostedFunction, synchronousPayloadBytes } from "../lambda/hosted-function.ts";
import { httpAnswer, httpEvent, messageAnswer, type ReceivedRequest, receivedRequest } from "./http-event.ts";
import { createThrottle, matchRoute, type Throttle } from "./routes.ts";

export type AccessLogEntry = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Name of the function; undefined if no route matched. */
  readonly function: string | undefined;
};

export type Exchange = {
  readonly path: string;
  readonly body: Buffer;
  readonly status: number;
  readonly route: string | undefined;
};

export type HttpApi = Awaited<ReturnType<typeof startHttpApi>>;

/** HTTP API's limit for a request's body, in bytes. */
const longestBody = 10 * 1024 * 1024;
const keptEntries = 10_000;

/**
 * Serves the stack's HTTP API on loopback.
 * @param port 0 for any free port
 * @throws Error if the port is in use
 */
export async function startHttpApi(
  port: number,
  gateway: Authorizer,
  onAnswered: (exchange: Exchange) => void = () => {},
) {
  const entries: AccessLogEntry[] = [];
  const served = Promise.withResolvers<Served>();

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request, longestBody);
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    const { answer, name, route } =
      body === undefined
        ? { answer: messageAnswer(413, "Request Entity Too Large"), name: undefined, route: undefined }
        : await answerRequest(receivedRequest(request, body), path, await served.promise, gateway);
    entries.push({ method: request.method ?? "", path, status: answer.status, function: name });
    if (entries.length > keptEntries) entries.shift();
    onAnswered({ path, body: body ?? Buffer.alloc(0), status: answer.status, route });
    writeAnswer(response, answer);
  };

  const server = createServer({ keepAliveTimeout }, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const actualPort = await listen(server, { port, name: "HTTP API" });
  return {
    /** Origin without a trailing slash. */
    url: `http://127.0.0.1:${actualPort}`,
    /** Latest requests, oldest first. */
    accessLog: (): readonly AccessLogEntry[] => entries,
    /** Sets the routes to serve. Requests wait until then. */
    serve: (plan: ApiPlan, functions: ReadonlyMap<string, HostedFunction>) =>
      served.resolve({ plan, functions, throttle: throttleOf(plan) }),
    close: () => closeServer(server),
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
) {
  const route = matchRoute(plan.routes, request.method, path);
  const target = route && functions.get(route.plan.function);
  if (route === undefined || target === undefined) {
    return { answer: messageAnswer(404, "Not Found"), name: undefined, route: undefined };
  }
  const { name } = target.plan;
  const { key } = route.plan;
  const answered = (answer: Answer) => ({ answer, name, route: key });
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

/** Whether the function's resource policy lets this API invoke it from this route. */
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

async function invoke(target: HostedFunction, event: string, timeoutMilliseconds: number): Promise<Answer> {
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
