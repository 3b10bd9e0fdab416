import type { FastifyInstance } from "fastify";
import { connectionFlow, type FlowDependencies } from "../connect/routes.ts";
import type { ProviderInterface } from "../provider-interface.ts";
import type { ProviderModel } from "../provider-model.ts";
import type { Shapes } from "../shapes.ts";
import type { WebhookRegistry } from "../webhooks.ts";
import { accountRoutes } from "./account-routes.ts";
import { type GuardDependencies, guardApi } from "./guard.ts";
import { createHttpApp } from "./http-app.ts";
import { newerRoutes } from "./newer-routes.ts";
import { describeRoutes } from "./openapi.ts";
import { pageAlways } from "./paging.ts";
import { tokenRoutes } from "./token-routes.ts";
import { userRoutes } from "./user-routes.ts";
import { webhookRoutes } from "./webhook-routes.ts";

export type ApiDependencies = GuardDependencies & {
  readonly interface: ProviderInterface;
  /** Where the connection flow is; known once the server listens. */
  readonly connectUrl: () => string;
  readonly model: ProviderModel;
  readonly webhooks: WebhookRegistry;
  readonly shapes: Shapes;
  readonly flow: FlowDependencies;
  /** Unset: lists are whole where no part of them is asked for. */
  readonly pageSize: number | undefined;
};

/** The service's API, in which every path needs a token and every error is JSON, and the connection flow's pages. */
export async function createApi(dependencies: ApiDependencies): Promise<FastifyInstance> {
  const { model, webhooks, tokens, shapes, flow, pageSize } = dependencies;
  const app = createHttpApp();
  const callers = guardApi(app, dependencies);
  if (pageSize !== undefined) pageAlways(app, pageSize);
  await describeRoutes(app, {
    title: "Income-data service",
    description: "Users, their accounts with income sources, and the data fetched from them.",
    path: "/api/openapi.json",
    secured: true,
  });
  const isNewer = dependencies.interface === "0.5";
  tokenRoutes(app, tokens, callers, ["v0.4", "v0.3", ...(isNewer ? ["v0.5"] : [])]);
  userRoutes(app, model, shapes);
  webhookRoutes(app, webhooks);
  accountRoutes(app, model, shapes);
  if (isNewer) newerRoutes(app, dependencies);
  await app.register(connectionFlow, flow);
  return app;
}
