import type { FastifyInstance } from "fastify";
import { notFound } from "../api/errors.ts";
import { describe, pathSchema } from "../api/schemas.ts";
import type { Delivery, DeliveryStatus } from "../delivery/queue.ts";
import type { EnvironmentName } from "../environment-name.ts";
import type { WebhookKind } from "../webhooks.ts";
import type { Choose } from "./choose.ts";
import * as schemas from "./schemas.ts";

type Page = { readonly environment?: EnvironmentName; readonly after?: string; readonly limit?: string };
type DeliveriesQuery = Page & { readonly status?: DeliveryStatus; readonly kind?: WebhookKind };

const defaultLimit = 1000;

/** What happened: the calls received and the deliveries made. */
export function logRoutes(app: FastifyInstance, choose: Choose): void {
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
