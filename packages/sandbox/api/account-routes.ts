import type { FastifyInstance } from "fastify";
import type { Account, User } from "../accounts.ts";
import type { Days } from "../data/ledger.ts";
import { type EndpointName, isEndpointName } from "../endpoint-names.ts";
import type { ProviderModel } from "../provider-model.ts";
import { answer, type Shapes } from "../shapes.ts";
import { formatDate, formatTimestamp } from "../timestamps.ts";
import { ApiError, notFound } from "./errors.ts";
import { isPaged, listAnswer, type PageQuery, pagedQuerySchema, pageOf, pageQuerySchema } from "./paging.ts";
import {
  accountSchema,
  accountsSchema,
  dataSetSchema,
  describe,
  fetchBodySchema,
  pathSchema,
  requestIdSchema,
} from "./schemas.ts";

/**
 * Paths of accounts and of company accounts, which are served under the company API and beside the accounts.
 */
const groups = [
  { path: "/api/v0.4/accounts", company: false },
  { path: "/api/v0.4/company-accounts", company: true },
  { path: "/api/company/v0.5/company-accounts", company: true },
] as const;

export function accountRoutes(app: FastifyInstance, model: ProviderModel, shapes: Shapes): void {
  listRoute(app, model);
  for (const { path, company } of groups) {
    const find = (id: string) => findAccount(model, id, company);
    stateRoute(app, path, find, shapes);
    dataRoute(app, path, find, { model, shapes });
    fetchRoute(app, path, find, model);
  }
}

/** Lists a user's accounts except company accounts, which are managed through the company API. */
function listRoute(app: FastifyInstance, model: ProviderModel): void {
  app.get<{ Params: { user_id: string }; Querystring: PageQuery }>(
    "/api/v0.4/users/:user_id/accounts",
    describe("List a user's accounts", accountsSchema, {
      params: pathSchema("user_id"),
      querystring: pageQuerySchema,
    }),
    async ({ params, query }) => {
      const accounts = model.accountsOf(findUser(model, params.user_id).id).filter(({ company }) => !company);
      return listAnswer(accounts, query, showAccount);
    },
  );
}

type Find = (id: string) => Account;

/** @throws 404 */
export function findUser(model: ProviderModel, id: string): User {
  const user = model.user(id);
  if (user === undefined) throw notFound("there is no user with this id");
  return user;
}

/** @throws 404 or 410 */
export function findAccount(model: ProviderModel, id: string, company: boolean): Account {
  const account = model.account(id);
  if (account === undefined || account.company !== company) {
    throw notFound(`there is no ${company ? "company account" : "account"} with this id`);
  }
  if (account.deleted) throw new ApiError(410, "gone", "the account was deleted");
  return account;
}

function stateRoute(app: FastifyInstance, path: string, find: Find, shapes: Shapes): void {
  app.get<{ Params: { account_id: string } }>(
    `${path}/:account_id`,
    describe("An account's state", accountSchema, { params: pathSchema("account_id") }),
    async ({ params }, reply) =>
      answer(reply, shapes, "account-answer", showAccount(find(params.account_id))),
  );
}

export function dataRoute(
  app: FastifyInstance,
  path: string,
  find: Find,
  { model, shapes }: { model: ProviderModel; shapes: Shapes },
): void {
  app.get<{ Params: { account_id: string; endpoint: string }; Querystring: PageQuery & DaysQuery }>(
    `${path}/:account_id/:endpoint`,
    describe("An endpoint's data", dataSetSchema, {
      params: pathSchema("account_id", "endpoint"),
      querystring: pagedQuerySchema(daysProperties),
    }),
    async ({ params, query }, reply) => {
      const account = find(params.account_id);
      if (!isEndpointName(params.endpoint)) throw notFound("there is no endpoint of this name");
      const data = model.data(account, params.endpoint, daysOf(query));
      if (data === undefined) throw notFound("no data of this endpoint has been fetched yet");
      const { items, next } = pageOf(data.data, query);
      const page = isPaged(query) ? { ...data, data: items, next } : data;
      return answer(reply, shapes, "data-answer", page);
    },
  );
}

export function fetchRoute(app: FastifyInstance, path: string, find: Find, model: ProviderModel): void {
  app.post<{ Params: { account_id: string }; Body: { endpoints: EndpointName[] } }>(
    `${path}/:account_id/fetches`,
    describe(
      "Start a data fetch",
      requestIdSchema,
      { params: pathSchema("account_id"), body: fetchBodySchema },
      202,
    ),
    async ({ params, body }, reply) => {
      const account = find(params.account_id);
      if (!account.connected) throw new ApiError(409, "not_connected", "the account is not connected");
      reply.code(202);
      return { request_id: model.startFetch(account.id, body.endpoints) };
    },
  );
}

function showAccount(account: Account) {
  return {
    id: account.id,
    user_id: account.userId,
    datasource_id: account.datasource.id,
    connected: account.connected,
    created_at: formatTimestamp(account.createdAt),
    updated_at: formatTimestamp(account.updatedAt),
    endpoints: [...account.data.keys()],
  };
}

/** Optional first and last day of the data. */
type DaysQuery = { readonly date_start?: string; readonly date_end?: string };

const day = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" } as const;
const daysProperties = {
  date_start: { ...day, description: "The first day; data of pay periods that end before it is left out" },
  date_end: { ...day, description: "The last day; data of pay periods that begin after it is left out" },
} as const;

/** @throws 400 for a date that does not exist, or an end before the start */
function daysOf({ date_start: start = "0000-01-01", date_end: end = "9999-12-31" }: DaysQuery): Days {
  for (const [name, date] of Object.entries({ date_start: start, date_end: end })) {
    if (!isOnCalendar(date)) throw new ApiError(400, "invalid_request", `${name}: is no day`);
  }
  if (end < start) throw new ApiError(400, "invalid_request", "date_end: is before date_start");
  return { start, end };
}

// Date parses 30 February as 2 March.
function isOnCalendar(date: string): boolean {
  const timestamp = new Date(date);
  return !Number.isNaN(timestamp.getTime()) && formatDate(timestamp) === date;
}
