import type { FastifyInstance } from "fastify";
import type { User } from "../accounts.ts";
import { connectionFlow, type FlowDependencies } from "../connect/routes.ts";
import type { ProviderInterface } from "../provider-interface.ts";
import type { ProviderModel } from "../provider-model.ts";
import { answer, type Shapes } from "../shapes.ts";
import { formatTimestamp } from "../timestamps.ts";
import type { Tokens } from "../tokens.ts";
import type { WebhookRegistry } from "../webhooks.ts";
import { accountRoutes, findUser } from "./account-routes.ts";
import { type Callers, type GuardDependencies, guardApi } from "./guard.ts";
import { createHttpApp } from "./http-app.ts";
import { newerRoutes } from "./newer-routes.ts";
import { describeRoutes } from "./openapi.ts";
import { listAnswer, type PageQuery, pageAlways, pageQuerySchema } from "./paging.ts";
import { describe, pathSchema, tokenSchema, userSchema, usersSchema } from "./schemas.ts";
import { webhookRoutes } from "./webhook-routes.ts";

export type ApiDependencies = GuardDependencies & {
  readonly interface: ProviderInterface;
  /** URL of the connection flow; known once the server listens. */
  readonly connectUrl: () => string;
  readonly model: ProviderModel;
  readonly webhooks: WebhookRegistry;
  readonly shapes: Shapes;
  readonly flow: FlowDependencies;
  /** Absent: lists are complete unless a page is requested. */
  readonly pageSize: number | undefined;
};

/**
 * Creates the service's API, in which every path needs a token and every error is JSON, and the connection
 * flow's pages.
 */
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

function tokenRoutes(
  app: FastifyInstance,
  tokens: Tokens,
  callers: Callers,
  versions: readonly string[],
): void {
  const options = describe("Refresh the token", tokenSchema);
  for (const version of versions) {
    app.get(`/api/${version}/token/refresh`, options, async (request) => {
      return { token: await tokens.refresh(callers.tokenIdOf(request)) };
    });
  }
}

/** Routes for users. Names, links and sessions are not shown; links and sessions are credentials. */
function userRoutes(app: FastifyInstance, model: ProviderModel, shapes: Shapes): void {
  const show = (user: User) => ({
    id: user.id,
    ...(user.metadata && { metadata: user.metadata }),
    created_at: formatTimestamp(user.createdAt),
    accounts_number: model.accountsOf(user.id).length,
  });
  app.get<{ Querystring: PageQuery }>(
    "/api/v0.4/users",
    describe("List the users", usersSchema, { querystring: pageQuerySchema }),
    async ({ query }) => listAnswer(model.users(), query, show),
  );
  app.get<{ Params: { user_id: string } }>(
    "/api/v0.4/users/:user_id",
    describe("Show a user", userSchema, { params: pathSchema("user_id") }),
    async ({ params }, reply) => answer(reply, shapes, "user-answer", show(findUser(model, params.user_id))),
  );
}
