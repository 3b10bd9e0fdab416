import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError, notFound } from "../api/errors.ts";
import { createHttpApp } from "../api/http-app.ts";
import { describeRoutes } from "../api/openapi.ts";
import { describe, pathSchema } from "../api/schemas.ts";
import type { Clock } from "../clock.ts";
import type { Delivery, DeliveryStatus } from "../delivery/queue.ts";
import { type Environment, urlOf } from "../environment.ts";
import type { EnvironmentName } from "../provider-interface.ts";
import type { WebhookKind } from "../webhooks.ts";
import { actionRoutes } from "./action-routes.ts";
import type { Choose } from "./choose.ts";
import * as schemas from "./schemas.ts";

export type ControlDependencies = {
  readonly sandbox: Environment;
  readonly production?: Environment;
  readonly clock: Clock;
  readonly advance: (seconds: number) => Promise<void>;
};

/**
 * Starts the control API for the operator, which is not part of the service's interface. It has no token, so
 * it listens on loopback only, and refuses pages of other names, sites and ports.
 */
export async function startControl(port: number, dependencies: ControlDependencies) {
  const { sandbox, production, clock, advance } = dependencies;
  const app = createHttpApp();
  refuseOtherPages(app);
  await describeRoutes(app, {
    title: "The sandbox's control address",
    description: "An operator's bench: what breaks the service on purpose and reports what happened.",
    path: "/openapi.json",
    secured: false,
  });
  const choose: Choose = (name = "sandbox") => {
    if (name === "sandbox") return sandbox;
    if (production === undefined) {
      throw new ApiError(409, "not_running", "the production environment is not running");
    }
    return production;
  };
  actionRoutes(app, choose, { now: clock.now, advance });
  logRoutes(app, choose);
  await app.listen({ host: "127.0.0.1", port });
  return { url: urlOf(app.server.address()), close: () => app.close() };
}

const ownNames = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Browsers send the calling page in headers; programs send none, and a typed URL has the site "none". */
function refuseOtherPages(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ headers }: FastifyRequest) => {
    const { host = "", origin, "sec-fetch-site": site = "none" } = headers;
    // A page can reach this machine through a DNS name of its own (DNS rebinding).
    if (!ownNames.has(host.replace(/:\d+$/, "")))
      throw new ApiError(403, "foreign_name", "the control address is only for this machine: use 127.0.0.1");
    const isOwnOrigin = origin === undefined || origin === `http://${host}`;
    if (!isOwnOrigin || (site !== "none" && site !== "same-origin"))
      throw new ApiError(403, "foreign_page", "the control address answers programs, and no other page");
  });
}

type Page = { readonly environment?: EnvironmentName; readonly after?: string; readonly limit?: string };
type DeliveriesQuery = Page & { readonly status?: DeliveryStatus; readonly kind?: WebhookKind };

const defaultLimit = 1000;

function logRoutes(app: FastifyInstance, choose: Choose): void {
  app.get<{ Querystring: Page }>(
    "/calls",
    describe("Every call received, the oldest first", schemas.callsAnswer, {
      querystring: schemas.callsQuery,
    }),
    async ({ query }) => {
      const start = Number(query.after ?? 0);
      const all = choose(query.environment).calls();
      const calls = all.slice(start, start + limitOf(query));
      const end = start + calls.length;
      return {
        calls: calls.map((call) => ({ ...call, at: call.at.toISOString() })),
        next: end < all.length ? String(end) : null,
      };
    },
  );
  app.get<{ Querystring: DeliveriesQuery }>(
    "/deliveries",
    describe("Every delivery, the oldest first", schemas.deliveriesAnswer, {
      querystring: schemas.deliveriesQuery,
    }),
    async ({ query }) => {
      const { environment, limit: _limit, ...wanted } = query;
      const limit = limitOf(query);
      const found = choose(environment).deliveries({ ...wanted, limit: limit + 1 });
      const deliveries = found.slice(0, limit);
      const next = found.length > limit ? (deliveries.at(-1)?.id ?? null) : null;
      return { deliveries: deliveries.map(showDelivery), next };
    },
  );
  app.get<{ Querystring: Page }>(
    "/analytics",
    describe("How the connection flow was used: of production only", schemas.analyticsAnswer, {
      querystring: schemas.environmentQuery,
    }),
    async ({ query }) => ({
      events: choose(query.environment ?? "production")
        .analytics()
        .map((event) => ({ ...event, at: event.at.toISOString() })),
    }),
  );
  app.post<{ Querystring: Page; Params: { delivery_id: string } }>(
    "/deliveries/:delivery_id/resend",
    describe("Deliver an event once more", schemas.nothing, {
      querystring: schemas.environmentQuery,
      params: pathSchema("delivery_id"),
    }),
    async ({ query, params }) => {
      if (!choose(query.environment).resend(params.delivery_id)) throw notFound("there is no such delivery");
      return {};
    },
  );
}

function limitOf({ limit }: Page): number {
  return limit === undefined ? defaultLimit : Number(limit);
}

function showDelivery({ createdAt, nextAt, finishedAt, ...delivery }: Delivery) {
  return {
    ...delivery,
    createdAt: createdAt.toISOString(),
    ...(nextAt && { nextAt: nextAt.toISOString() }),
    ...(finishedAt && { finishedAt: finishedAt.toISOString() }),
  };
}
