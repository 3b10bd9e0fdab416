import type { FastifyInstance } from "fastify";
import type { Shapes } from "../shapes.ts";
import type { WebhookRegistry } from "../webhooks.ts";
import type { World } from "../world.ts";
import { accountRoutes } from "./account-routes.ts";
import { type GuardDependencies, guardApi } from "./guard.ts";
import { createHttpApp } from "./http-app.ts";
import { tokenRoutes } from "./token-routes.ts";
import { userRoutes } from "./user-routes.ts";
import { webhookRoutes } from "./webhook-routes.ts";

export type ApiDependencies = GuardDependencies & {
  readonly world: World;
  readonly webhooks: WebhookRegistry;
  readonly shapes: Shapes;
};

/** The service's API: every path needs a token, every error is JSON. */
export function createApi(dependencies: ApiDependencies): FastifyInstance {
  const { world, webhooks, tokens, shapes } = dependencies;
  const app = createHttpApp();
  const callers = guardApi(app, dependencies);
  tokenRoutes(app, tokens, callers);
  userRoutes(app, world, shapes);
  webhookRoutes(app, webhooks);
  accountRoutes(app, world, shapes);
  return app;
}
