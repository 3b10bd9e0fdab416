import type { FastifyInstance } from "fastify";
import { asked } from "../api/errors.ts";
import type { Fault } from "../api/faults.ts";
import { describe, pathSchema } from "../api/schemas.ts";
import type { EndpointName } from "../endpoint-names.ts";
import type { CreateAccountOptions, CreateUsersOptions, DropOptions, Environment } from "../environment.ts";
import type { EnvironmentName } from "../provider-interface.ts";
import type { ShapedThing } from "../shapes.ts";
import type { Choose } from "./choose.ts";
import { type FiredEvent, fireAll } from "./fire.ts";
import * as schemas from "./schemas.ts";

type About = { readonly environment?: EnvironmentName };
type UsersBody = About & CreateUsersOptions & { readonly count: number };
type MetadataBody = About & DropOptions & Required<Pick<CreateUsersOptions, "metadata">>;
type EventsBody = About & {
  readonly events: readonly FiredEvent[];
  readonly spacingSeconds?: number;
};
type TokenBody = About & {
  readonly action: "expire" | "revoke" | "issue";
  readonly remainingSeconds?: number;
};
type AccountBody = About & DropOptions & { readonly action: "disconnect" | "reconnect" | "delete" };

export type ControlledClock = { now(): Date; advance(seconds: number): Promise<void> };

export function actionRoutes(app: FastifyInstance, choose: Choose, clock: ControlledClock): void {
  dataRoutes(app, choose);
  apiRoutes(app, choose);
  app.post<{ Body: EventsBody }>(
    "/events",
    describe("Fire events", schemas.deliveryIds, { body: schemas.eventsBody }),
    async ({ body }) => ({ deliveries: asked(() => fireAll(choose(body.environment), body)) }),
  );
  app.post<{ Body: { readonly advanceSeconds: number } }>(
    "/clock",
    describe("Move the clock forward", schemas.clockAnswer, { body: schemas.clockBody }),
    async ({ body }) => {
      await clock.advance(body.advanceSeconds);
      return { now: clock.now().toISOString() };
    },
  );
}

function dataRoutes(app: FastifyInstance, choose: Choose): void {
  app.post<{ Body: UsersBody }>(
    "/users",
    describe("Create users and connect accounts", schemas.createdUsers, { body: schemas.usersBody }),
    async ({ body }) => choose(body.environment).createUsers(body.count, body),
  );
  app.post<{ Body: MetadataBody; Params: { user_id: string } }>(
    "/users/:user_id",
    describe("Replace a user's metadata", schemas.nothing, {
      body: schemas.metadataBody,
      params: pathSchema("user_id"),
    }),
    async ({ body: { environment, metadata, drop = false }, params }) => {
      asked(() => choose(environment).replaceMetadata(params.user_id, metadata, { drop }));
      return {};
    },
  );
  app.post<{ Body: About & CreateAccountOptions & { readonly userId: string } }>(
    "/accounts",
    describe("Create an account of a user", schemas.createdAccount, { body: schemas.newAccountBody }),
    async ({ body: { environment, userId, ...options } }) => ({
      account: asked(() => choose(environment).createAccount(userId, options)),
    }),
  );
  app.post<{ Body: AccountBody; Params: { account_id: string } }>(
    "/accounts/:account_id",
    describe("Change an account", schemas.nothing, {
      body: schemas.accountBody,
      params: pathSchema("account_id"),
    }),
    async ({ body, params }) => {
      asked(() => changeAccount(choose(body.environment), body, params.account_id));
      return {};
    },
  );
  app.post<{ Body: About & { readonly endpoints: readonly EndpointName[] }; Params: { account_id: string } }>(
    "/accounts/:account_id/fetches",
    describe("Fetch an account's data", schemas.nothing, {
      body: schemas.fetchesBody,
      params: pathSchema("account_id"),
    }),
    async ({ body, params }) => {
      asked(() => choose(body.environment).fetchData(params.account_id, body.endpoints));
      return {};
    },
  );
}

function apiRoutes(app: FastifyInstance, choose: Choose): void {
  app.post<{ Body: About & Fault }>(
    "/faults",
    describe("Let calls fail", schemas.nothing, { body: schemas.faultBody }),
    async ({ body }) => {
      asked(() => choose(body.environment).fault(body));
      return {};
    },
  );
  app.delete<{ Querystring: About }>(
    "/faults",
    describe("End every fault", schemas.nothing, { querystring: schemas.environmentQuery }),
    async ({ query }) => {
      choose(query.environment).clearFaults();
      return {};
    },
  );
  app.post<{ Body: TokenBody }>(
    "/token",
    describe("End every token, or issue one", schemas.tokenAnswer, { body: schemas.tokenBody }),
    async ({ body }) => handleTokens(choose(body.environment), body),
  );
  app.post<{ Body: About & { readonly of: ShapedThing; readonly template?: unknown } }>(
    "/shape",
    describe("Give payloads another shape", schemas.nothing, { body: schemas.shapeBody }),
    async ({ body }) => {
      choose(body.environment).shape(body.of, body.template);
      return {};
    },
  );
}

function changeAccount(
  environment: Environment,
  { action, drop = false }: AccountBody,
  accountId: string,
): void {
  const changes = {
    disconnect: environment.disconnectAccount,
    reconnect: environment.reconnectAccount,
    delete: environment.deleteAccount,
  };
  changes[action](accountId, { drop });
}

async function handleTokens(environment: Environment, { action, remainingSeconds }: TokenBody) {
  switch (action) {
    case "issue":
      return { token: await environment.issueToken(remainingSeconds) };
    case "expire":
      return { ended: environment.endTokens("expired") };
    case "revoke":
      return { ended: environment.endTokens("revoked") };
  }
}
