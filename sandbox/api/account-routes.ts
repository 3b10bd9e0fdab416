import type { FastifyInstance } from "fastify";
import { type EndpointName, isEndpointName } from "../endpoint-names.ts";
import { formatMoment } from "../moments.ts";
import type { Account, World } from "../world.ts";
import { ApiError, notFound } from "./errors.ts";
import {
  accountSchema,
  answers,
  dataSetSchema,
  fetchBodySchema,
  pathSchema,
  requestIdSchema,
} from "./schemas.ts";

/** Where accounts are served, and company accounts: under the company API, and beside the accounts. */
const groups = [
  { path: "/api/v0.4/accounts", company: false },
  { path: "/api/v0.4/company-accounts", company: true },
  { path: "/api/company/v0.5/company-accounts", company: true },
] as const;

/** An account's state, its data, and the start of a data fetch. */
export function accountRoutes(app: FastifyInstance, world: World): void {
  for (const { path, company } of groups) {
    const find = (id: string) => findAccount(world, id, company);
    stateRoute(app, path, find);
    dataRoute(app, path, find, world);
    fetchRoute(app, path, find, world);
  }
}

type Find = (id: string) => Account;

function findAccount(world: World, id: string, company: boolean): Account {
  const account = world.account(id);
  if (account === undefined || account.company !== company) {
    throw notFound(`there is no ${company ? "company account" : "account"} with this id`);
  }
  if (account.deleted) throw new ApiError(410, "gone", "the account was deleted");
  return account;
}

function stateRoute(app: FastifyInstance, path: string, find: Find): void {
  app.get<{ Params: { account_id: string } }>(
    `${path}/:account_id`,
    {
      schema: {
        summary: "An account's state",
        params: pathSchema("account_id"),
        response: answers(200, accountSchema),
      },
    },
    async ({ params }) => showAccount(find(params.account_id)),
  );
}

function dataRoute(app: FastifyInstance, path: string, find: Find, world: World): void {
  app.get<{ Params: { account_id: string; endpoint: string } }>(
    `${path}/:account_id/:endpoint`,
    {
      schema: {
        summary: "An endpoint's data",
        params: pathSchema("account_id", "endpoint"),
        response: answers(200, dataSetSchema),
      },
    },
    async ({ params }) => {
      const account = find(params.account_id);
      if (!isEndpointName(params.endpoint)) throw notFound("there is no endpoint of this name");
      const data = world.data(account, params.endpoint);
      if (data === undefined) throw notFound("no data of this endpoint has been fetched yet");
      return data;
    },
  );
}

function fetchRoute(app: FastifyInstance, path: string, find: Find, world: World): void {
  app.post<{ Params: { account_id: string }; Body: { endpoints: EndpointName[] } }>(
    `${path}/:account_id/fetches`,
    {
      schema: {
        summary: "Start a data fetch",
        params: pathSchema("account_id"),
        body: fetchBodySchema,
        response: answers(202, requestIdSchema),
      },
    },
    async ({ params, body }, reply) => {
      const account = find(params.account_id);
      if (!account.connected) throw new ApiError(409, "not_connected", "the account is not connected");
      reply.code(202);
      return { request_id: world.startFetch(account.id, body.endpoints) };
    },
  );
}

function showAccount(account: Account) {
  return {
    id: account.id,
    user_id: account.userId,
    datasource_id: account.datasource.id,
    connected: account.connected,
    created_at: formatMoment(account.createdAt),
    updated_at: formatMoment(account.updatedAt),
    endpoints: [...account.data.keys()],
  };
}
