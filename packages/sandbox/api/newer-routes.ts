import type { FastifyInstance } from "fastify";
import type { Account, User } from "../accounts.ts";
import type { Clock } from "../clock.ts";
import type { ProviderModel } from "../provider-model.ts";
import type { Shapes } from "../shapes.ts";
import { formatNanoseconds } from "../timestamps.ts";
import type { Webhook, WebhookKind, WebhookRegistry } from "../webhooks.ts";
import { dataRoute, fetchRoute, findAccount, findUser } from "./account-routes.ts";
import { notFound } from "./errors.ts";
import {
  describe,
  emptySchema,
  metadataBodySchema,
  newerAccountSchema,
  newerUserSchema,
  newerWebhookBodySchema,
  newerWebhookSchema,
  pathSchema,
  sessionSchema,
  sizedListSchema,
} from "./schemas.ts";
import { checkWebhook } from "./webhook-routes.ts";

export type NewerDependencies = {
  readonly model: ProviderModel;
  readonly webhooks: WebhookRegistry;
  readonly shapes: Shapes;
  readonly clock: Clock;
  /** URL of the connection flow. */
  readonly connectUrl: () => string;
};

const root = "/api/v0.5";
/** The public index lists the company API without `/api`, the specification with it. */
const companyRoots = ["/company/v0.5", "/api/company/v0.5"];

type ById = { Params: { id: string } };

const params = pathSchema("id");
const byId = (summary: string, answer: object) => describe(summary, answer, { params });
type WithMetadata = { Body: { metadata?: Readonly<Record<string, unknown>> } };

/**
 * Routes of interface 0.5: one version for all paths, lists with their size, webhooks that can be listed and
 * deleted.
 */
export function newerRoutes(app: FastifyInstance, dependencies: NewerDependencies): void {
  userRoutes(app, dependencies);
  accountRoutes(app, dependencies);
  webhookRoutes(app, dependencies.webhooks, root, {
    users: "users",
    accounts: "accounts",
    endpoints: "endpoints",
    "multi-endpoints": "multi-endpoints",
    "sandbox-connect-events": "connect-events",
  });
  for (const companyRoot of companyRoots)
    webhookRoutes(app, dependencies.webhooks, companyRoot, {
      accounts: "company-accounts",
      endpoints: "company-endpoints",
    });
}

function userRoutes(app: FastifyInstance, { model, clock, connectUrl }: NewerDependencies): void {
  const path = `${root}/users`;
  const show = ({ id, metadata = {}, session, sessionExpiresAt, createdAt }: User) => ({
    id,
    metadata,
    link: `${connectUrl()}/connect/${session}`,
    session,
    session_expired: sessionExpiresAt <= clock.now(),
    session_expires_at: formatNanoseconds(sessionExpiresAt),
    created_at: formatNanoseconds(createdAt),
    accounts_number: model.accountsOf(id).length,
  });
  const find = (id: string) => findUser(model, id);
  app.get(path, describe("List the users", sizedListSchema(newerUserSchema)), async () =>
    sizedList(model.users().map(show)),
  );
  app.post<WithMetadata>(
    path,
    describe("Create a user", newerUserSchema, { body: metadataBodySchema }),
    async ({ body }) => show(model.registerUser(body)),
  );
  app.get<ById>(`${path}/:id`, byId("Show a user", newerUserSchema), async ({ params }) =>
    show(find(params.id)),
  );
  app.put<ById & WithMetadata>(
    `${path}/:id`,
    describe("Replace a user's metadata", newerUserSchema, { params, body: metadataBodySchema }),
    async ({ params, body }) => show(model.replaceMetadata(find(params.id).id, body.metadata)),
  );
  app.delete<ById>(`${path}/:id`, byId("Delete a user and its accounts", emptySchema), async ({ params }) => {
    model.deleteUser(find(params.id).id);
    return {};
  });
  app.get<ById>(
    `${path}/:id/accounts`,
    byId("List a user's accounts", sizedListSchema(newerAccountSchema)),
    async ({ params }) =>
      sizedList(
        model
          .accountsOf(find(params.id).id)
          .filter(({ company }) => !company)
          .map(showAccount),
      ),
  );
}

function accountRoutes(app: FastifyInstance, { model, shapes, connectUrl }: NewerDependencies): void {
  const groups = [
    { path: `${root}/accounts`, company: false },
    { path: `${root}/company-accounts`, company: true },
    { path: "/company/v0.5/company-accounts", company: true },
  ];
  for (const { path, company } of groups) {
    const find = (id: string) => findAccount(model, id, company);
    app.get<ById>(`${path}/:id`, byId("An account's state", newerAccountSchema), async ({ params }) =>
      showAccount(find(params.id)),
    );
    dataRoute(app, path, find, { model, shapes });
    fetchRoute(app, path, find, model);
    app.post<ById>(
      `${path}/:id/disconnect`,
      byId("Disconnect an account", newerAccountSchema),
      async ({ params }) => showAccount(model.disconnect(find(params.id).id)),
    );
    app.post<ById>(
      `${path}/:id/reconnect`,
      byId("Open the connection flow for an account", sessionSchema),
      async ({ params }) => {
        const session = model.user(find(params.id).userId)?.session;
        if (session === undefined) throw notFound("there is no user of this account");
        return { session, link: `${connectUrl()}/connect/${session}` };
      },
    );
    app.delete<ById>(`${path}/:id`, byId("Delete an account", emptySchema), async ({ params }) => {
      model.deleteAccount(find(params.id).id);
      return {};
    });
  }
}

function showAccount(account: Account) {
  const { id, userId, datasource, connected, createdAt, updatedAt } = account;
  return {
    id,
    user_id: userId,
    datasource_id: datasource.id,
    name: datasource.name,
    type: datasource.category,
    connected,
    reconnecting: false,
    created_at: formatNanoseconds(createdAt),
    updated_at: formatNanoseconds(updatedAt),
  };
}

type WebhookBody = Omit<Webhook, "headers" | "platformIds"> & {
  readonly headers?: Webhook["headers"];
  readonly platform_ids?: readonly string[];
};

/** @param kinds by the last part of their paths; lists and deletions write them with underscores */
function webhookRoutes(
  app: FastifyInstance,
  webhooks: WebhookRegistry,
  root: string,
  kinds: Readonly<Record<string, WebhookKind>>,
): void {
  const types = new Map(Object.entries(kinds).map(([name, kind]) => [name.replaceAll("-", "_"), kind]));
  const show = (type: string, { url, method, enabled, headers, secret }: Webhook) => {
    return { type, url, method, enabled, header_names: Object.keys(headers), signed: secret !== undefined };
  };
  app.get(`${root}/webhooks`, describe("List the webhooks", sizedListSchema(newerWebhookSchema)), async () =>
    sizedList(
      [...types].flatMap(([type, kind]) => {
        const webhook = webhooks.get(kind);
        return webhook === undefined ? [] : [show(type, webhook)];
      }),
    ),
  );
  for (const [name, kind] of Object.entries(kinds)) {
    if (app.hasRoute({ method: "PUT", url: `${root}/webhooks/${name}` })) continue;
    app.put<{ Body: WebhookBody }>(
      `${root}/webhooks/${name}`,
      describe(`Define the webhook ${name}`, newerWebhookSchema, { body: newerWebhookBodySchema }),
      async ({ body: { platform_ids, headers = {}, ...body } }) => {
        const webhook = { ...body, headers, ...(platform_ids && { platformIds: platform_ids }) };
        checkWebhook(webhook);
        webhooks.set(kind, webhook);
        return show(name.replaceAll("-", "_"), webhook);
      },
    );
  }
  app.delete<{ Params: { type: string } }>(
    `${root}/webhooks/:type`,
    describe("Delete a webhook", emptySchema, { params: pathSchema("type") }),
    async ({ params }) => {
      const kind = types.get(params.type);
      if (kind === undefined || !webhooks.has(kind)) throw notFound("no webhook of this type is defined");
      webhooks.delete(kind);
      return {};
    },
  );
}

function sizedList(data: readonly object[]): object {
  return { data, size: data.length };
}
