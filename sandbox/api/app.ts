import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from "fastify";
import type { Clock } from "../clock.ts";
import type { Tokens } from "../tokens.ts";
import type { WebhookRegistry } from "../webhooks.ts";
import type { World } from "../world.ts";
import { accountRoutes } from "./account-routes.ts";
import type { CallLog } from "./call-log.ts";
import { ApiError, notFound } from "./errors.ts";
import type { Faults } from "./faults.ts";
import { tokenRoutes } from "./token-routes.ts";
import { userRoutes } from "./user-routes.ts";
import { webhookRoutes } from "./webhook-routes.ts";

export type ApiDependencies = {
  readonly clock: Clock;
  readonly tokens: Tokens;
  readonly world: World;
  readonly webhooks: WebhookRegistry;
  readonly calls: CallLog;
  readonly faults: Faults;
  /** Seconds to wait, for a call over the rate limit. */
  readonly rateLimit: () => number | undefined;
};

/** The service's API: every path needs a token, every error is JSON. */
export function createApi(dependencies: ApiDependencies): FastifyInstance {
  const app = createApp();
  guard(app, dependencies);
  tokenRoutes(app, dependencies.tokens);
  userRoutes(app, dependencies.world);
  webhookRoutes(app, dependencies.webhooks);
  accountRoutes(app, dependencies.world);
  return app;
}

/** A server whose every error is an answer in JSON, and never a stack trace. */
function createApp(): FastifyInstance {
  const app = Fastify({
    bodyLimit: 1024 * 1024,
    forceCloseConnections: true,
    // What is sent is judged as it is: nothing is dropped from it or turned into another type.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false } },
  });
  app.setNotFoundHandler(() => {
    throw notFound("there is nothing at this path with this method");
  });
  app.setErrorHandler((error: FastifyError, _request, reply) => sendError(error, reply));
  return app;
}

function sendError(error: FastifyError | ApiError, reply: FastifyReply) {
  if (error instanceof ApiError) {
    return reply.code(error.status).send({ error: error.code, message: error.message });
  }
  const status = error.statusCode ?? 500;
  if (status >= 500) return reply.code(500).send({ error: "internal", message: "the sandbox failed" });
  const code = status === 413 ? "too_large" : "invalid_request";
  return reply.code(status).send({ error: code, message: error.message });
}

/** Records each call and lets it pass if no fault is planned for it, its token is valid and the rate allows it. */
function guard(app: FastifyInstance, { clock, tokens, calls, faults, rateLimit }: ApiDependencies): void {
  const authorized = new WeakSet<FastifyRequest>();
  app.addHook("onRequest", async (request, reply) => {
    const verdict = await tokens.verify(request.headers.authorization);
    if (verdict.valid) authorized.add(request);
    const fault = faults.take(request.method, pathOf(request));
    if (fault !== undefined) {
      if (fault.retryAfterSeconds !== undefined) reply.header("retry-after", fault.retryAfterSeconds);
      throw new ApiError(fault.status, "fault", "this fault was asked for");
    }
    if (!verdict.valid) {
      reply.header("www-authenticate", "Bearer");
      throw new ApiError(401, "unauthorized", `the token is ${verdict.reason}`);
    }
    const wait = rateLimit();
    if (wait === undefined) return;
    reply.header("retry-after", wait);
    throw new ApiError(429, "too_many_requests", `over the rate limit: wait ${wait} s`);
  });
  app.addHook("onResponse", async (request, reply) => {
    calls.add({
      method: request.method,
      path: pathOf(request),
      status: reply.statusCode,
      at: clock.now(),
      authorized: authorized.has(request),
    });
  });
}

function pathOf(request: FastifyRequest): string {
  return request.url.split("?", 1)[0] ?? request.url;
}
