import type { FastifyInstance } from "fastify";
import { ApiError, asked, notFound } from "../api/errors.ts";
import type { Fault } from "../api/faults.ts";
import type { Clock } from "../clock.ts";
import type { DeliveryQuery } from "../delivery/queue.ts";
import type { EndpointName } from "../endpoint-names.ts";
import type { CreateAccountOptions, CreateUsersOptions, DropOptions, Environment } from "../environment.ts";
import type { EnvironmentName } from "../provider-interface.ts";
import type { ShapedThing } from "../shapes.ts";
import { type Firing, fireAll } from "./fire.ts";
import * as schemas from "./schemas.ts";

export type ControlDependencies = {
  readonly sandbox: Environment;
  readonly production?: Environment;
  readonly clock: Clock;
  readonly advance: (seconds: number) => Promise<void>;
};

type About = { readonly environment?: EnvironmentName };
type AboutAccount = { Params: { readonly account_id: string } };
type Page = About & { readonly after?: string; readonly limit?: string };
type MetadataBody = About & DropOptions & Required<Pick<CreateUsersOptions, "metadata">>;
type AccountBody = About & DropOptions & { readonly action: "disconnect" | "reconnect" | "delete" };
type TokenBody = About & {
  readonly action: "expire" | "revoke" | "issue";
  readonly remainingSeconds?: number;
};

const defaultLimit = 1000;

/** Routes that change an environment or list what it recorded. */
export function controlRoutes(app: FastifyInstance, dependencies: ControlDependencies): void {
  const { clock, advance } = dependencies;
  const of = ({ environment = "sandbox" }: About): Environment => {
    const found = dependencies[environment];
    if (found !== undefined) return found;
    throw new ApiError(409, "not_running", `the ${environment} environment is not running`);
  };
  dataRoutes(app, of);
  app.post<{ Body: About & Fault }>("/faults", schemas.faults, async ({ body }) =>
    done(() => of(body).fault(body)),
  );
  app.delete<{ Querystring: About }>("/faults", schemas.clearFaults, async ({ query }) =>
    done(() => of(query).clearFaults()),
  );
  app.post<{ Body: TokenBody }>("/token", schemas.token, async ({ body }) => handleTokens(of(body), body));
  app.post<{ Body: About & { readonly of: ShapedThing; readonly template?: unknown } }>(
    "/shape",
    schemas.shape,
    async ({ body }) => done(() => of(body).shape(body.of, body.template)),
  );
  app.post<{ Body: About & Firing }>("/events", schemas.events, async ({ body }) => ({
    deliveries: asked(() => fireAll(of(body), body)),
  }));
  app.post<{ Body: { readonly advanceSeconds: number } }>("/clock", schemas.clock, async ({ body }) => {
    await advance(body.advanceSeconds);
    return { now: clock.now() };
  });
  app.get<{ Querystring: Page }>("/calls", schemas.calls, async ({ query }) => {
    const start = Number(query.after ?? 0);
    const end = start + Number(query.limit ?? defaultLimit);
    const all = of(query).calls();
    return { calls: all.slice(start, end), next: end < all.length ? String(end) : null };
  });
  app.get<{ Querystring: Page & Pick<DeliveryQuery, "status" | "kind"> }>(
    "/deliveries",
    schemas.deliveries,
    async ({ query }) => {
      const limit = Number(query.limit ?? defaultLimit);
      const found = of(query).deliveries({ ...query, limit: limit + 1 });
      const deliveries = found.slice(0, limit);
      return { deliveries, next: (found.length > limit && deliveries.at(-1)?.id) || null };
    },
  );
  app.post<{ Querystring: About; Params: { readonly delivery_id: string } }>(
    "/deliveries/:delivery_id/resend",
    schemas.resend,
    async ({ query, params }) => {
      if (!of(query).resend(params.delivery_id)) throw notFound("there is no such delivery");
      return {};
    },
  );
  app.get<{ Querystring: About }>("/analytics", schemas.analytics, async ({ query }) => ({
    events: of({ environment: "production", ...query }).analytics(),
  }));
}

function dataRoutes(app: FastifyInstance, of: (about: About) => Environment): void {
  app.post<{ Body: About & CreateUsersOptions & { readonly count: number } }>(
    "/users",
    schemas.users,
    async ({ body }) => of(body).createUsers(body.count, body),
  );
  app.post<{ Body: MetadataBody; Params: { readonly user_id: string } }>(
    "/users/:user_id",
    schemas.metadata,
    async ({ body, params }) =>
      done(() => of(body).replaceMetadata(params.user_id, body.metadata, { drop: body.drop ?? false })),
  );
  app.post<{ Body: About & CreateAccountOptions & { readonly userId: string } }>(
    "/accounts",
    schemas.newAccount,
    async ({ body }) => ({ account: asked(() => of(body).createAccount(body.userId, body)) }),
  );
  app.post<AboutAccount & { Body: AccountBody }>(
    "/accounts/:account_id",
    schemas.account,
    async ({ body, params }) => done(() => changeAccount(of(body), body, params.account_id)),
  );
  app.post<AboutAccount & { Body: About & { readonly endpoints: readonly EndpointName[] } }>(
    "/accounts/:account_id/fetches",
    schemas.fetches,
    async ({ body, params }) => done(() => of(body).fetchData(params.account_id, body.endpoints)),
  );
}

/** Answers `{}` after the action, and 400 with the reason if it throws. */
function done(action: () => void): object {
  asked(action);
  return {};
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
