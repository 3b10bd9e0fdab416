import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../clock.ts";
import { flowPath } from "../connect/routes.ts";
import type { Tokens } from "../tokens.ts";
import { type Call, keptAnswerLength, type Log } from "./call-log.ts";
import { type AnswerEncoding, encoded } from "./encodings.ts";
import { ApiError } from "./errors.ts";
import { encodingOf, type Fault, type Faults, isPlayed, playFault } from "./faults.ts";

export type GuardDependencies = {
  readonly clock: Clock;
  readonly tokens: Tokens;
  readonly calls: Log<Call>;
  readonly faults: Faults;
  /** Seconds to wait for a call over the rate limit. */
  readonly rateLimit: () => number | undefined;
  readonly retryAfter: (seconds: number) => string;
};

export type Callers = { tokenIdOf(request: FastifyRequest): string };

/** Logs each call, and lets it pass if no fault applies, its token is valid and the rate limit allows it. */
export function guardApi(app: FastifyInstance, dependencies: GuardDependencies): Callers {
  const { clock, tokens, calls, faults, rateLimit, retryAfter } = dependencies;
  const tokenIds = new WeakMap<FastifyRequest, string>();
  const logged = new WeakSet<FastifyRequest>();
  const arrivals = new WeakMap<FastifyRequest, Date>();
  const bodies = new WeakMap<FastifyRequest, string>();
  const encodings = new WeakMap<FastifyRequest, AnswerEncoding>();
  const log = (request: FastifyRequest, status: number) => {
    if (logged.has(request)) return;
    logged.add(request);
    const { method } = request;
    const path = pathOf(request);
    const answer = isTokenPath(path) ? "" : (bodies.get(request) ?? "");
    const at = arrivals.get(request) ?? clock.now();
    calls.add({ method, path, status, at, authorized: tokenIds.has(request), answer });
  };
  app.addHook("onSend", async (request, reply, payload) => {
    if (typeof payload === "string") bodies.set(request, payload.slice(0, keptAnswerLength));
    const encoding = encodings.get(request);
    if (encoding === undefined || !(typeof payload === "string" || Buffer.isBuffer(payload))) return payload;
    const { body, headers } = encoded(payload.toString(), encoding);
    reply.headers(headers);
    return body;
  });
  app.addHook("onRequest", async (request, reply) => {
    if (isFlow(pathOf(request))) return;
    arrivals.set(request, clock.now());
    // Calls of clients that disconnect early are logged too.
    reply.raw.once("close", () => log(request, reply.raw.headersSent ? reply.raw.statusCode : 0));
    const check = await tokens.verify(request.headers.authorization);
    if (check.valid) tokenIds.set(request, check.tokenId);
    const fault = faults.take(request.method, pathOf(request));
    const encoding = fault && encodingOf(fault);
    if (encoding !== undefined) encodings.set(request, encoding);
    else if (fault !== undefined) return meet(fault, reply, retryAfter, (status) => log(request, status));
    if (!check.valid) {
      reply.header("www-authenticate", "Bearer");
      throw new ApiError(401, "unauthorized", `the token is ${check.reason}`);
    }
    const wait = rateLimit();
    if (wait === undefined) return;
    reply.header("retry-after", retryAfter(wait));
    throw new ApiError(429, "too_many_requests", `over the rate limit: wait ${wait} s`);
  });
  app.addHook("onResponse", async (request, reply) => {
    if (!isFlow(pathOf(request))) log(request, reply.statusCode);
  });
  return { tokenIdOf: (request) => tokenIds.get(request) ?? "" };
}

function meet(
  fault: Fault,
  reply: FastifyReply,
  retryAfter: (seconds: number) => string,
  log: (status: number) => void,
): void {
  const { status, retryAfterSeconds } = fault;
  if (!isPlayed(fault)) {
    if (retryAfterSeconds !== undefined) reply.header("retry-after", retryAfter(retryAfterSeconds));
    throw new ApiError(status ?? 500, "fault", "this fault was requested");
  }
  reply.hijack();
  // Logged at once because some of these answers never end.
  log(playFault(fault, pathOf(reply.request), reply.raw));
}

/** The connection flow's pages are not API calls; the sessions in their paths are credentials. */
function isFlow(path: string): boolean {
  return path === flowPath || path.startsWith(`${flowPath}/`);
}

/** Its answer contains a token, which must not be logged. */
function isTokenPath(path: string): boolean {
  return path.includes("/token/");
}

function pathOf(request: FastifyRequest): string {
  return request.url.split("?", 1)[0] ?? request.url;
}
