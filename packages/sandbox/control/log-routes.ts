import type { FastifyInstance } from "fastify";
import { notFound } from "../api/errors.ts";
import { answers, pathSchema } from "../api/schemas.ts";
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
    {
      schema: {
        summary: "Every call received, the oldest first",
        querystring: schemas.callsQuery,
        response: answers(200, schemas.callsAnswer),
      },
    },
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
    {
      schema: {
        summary: "Every delivery, the oldest first",
        querystring: schemas.deliveriesQuery,
        response: answers(200, schemas.deliveriesAnswer),
      },
    },
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
    {
      schema: {
        summary: "How the connection flow was used: of production only",
        querystring: schemas.environmentQuery,
        response: answers(200, schemas.analyticsAnswer),
      },
    },
    async ({ query }) => ({
      events: choose(query.environment ?? "production")
        .analytics()
        .map((event) => ({ ...event, at: event.at.toISOString() })),
    }),
  );
  app.post<{ Querystring: Page; Params: { delivery_id: string } }>(
    "/deliveries/:delivery_id/resend",
    {
      schema: {
        summary: "Deliver an event once more",
        querystring: schemas.environmentQuery,
        params: pathSchema("delivery_id"),
        response: answers(200, schemas.nothing),
      },
    },
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
