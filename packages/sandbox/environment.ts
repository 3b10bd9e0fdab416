import type { AddressInfo } from "node:net";
import { createApi } from "./api/app.ts";
import { type Call, createCallLog } from "./api/call-log.ts";
import { createFaults, type Fault } from "./api/faults.ts";
import { checkHeaders } from "./api/header-rules.ts";
import { createRateLimit } from "./api/rate-limit.ts";
import { type RetryAfterForm, retryAfterWriter } from "./api/retry-after.ts";
import { type Clock, endingClock } from "./clock.ts";
import { createAnalytics, type FlowEvent } from "./connect/analytics.ts";
import { type Branding, checkBranding } from "./connect/branding.ts";
import { createSignIns } from "./connect/sign-ins.ts";
import { idSource } from "./data/random.ts";
import { type Datasource, standardDatasources } from "./datasources.ts";
import { type Attempt, createDeliveryEngine, type DeliveryEngine } from "./delivery/engine.ts";
import { type Delivery, type DeliveryQuery, openDeliveryQueue } from "./delivery/queue.ts";
import { createSender } from "./delivery/send.ts";
import { type EndpointName, isEndpointName } from "./endpoint-names.ts";
import type { EnvironmentName } from "./environment-name.ts";
import { type Load, runLoad } from "./load.ts";
import { createShapes, type ShapedThing } from "./shapes.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";
import type { Store } from "./store.ts";
import { createTokens, type TokenEnd } from "./tokens.ts";
import { updatePeriodically } from "./updates.ts";
import { createWebhookRegistry, type Webhook, type WebhookKind, type WebhookRegistry } from "./webhooks.ts";
import { createWorld, type SubmitOptions, type World } from "./world.ts";

export type DeliveryOptions = {
  /** Of the system's time; default 10 s. */
  readonly timeoutMs?: number;
  /** Doubled after each failure up to `maxRetryMs`; default 30 s. */
  readonly firstRetryMs?: number;
  /** Default one hour. */
  readonly maxRetryMs?: number;
  /** Default 3 days. */
  readonly giveUpAfterMs?: number;
  /** Calls at once; default 16. */
  readonly concurrency?: number;
  /** Is told of each call to a webhook, with what came of it. */
  readonly onAttempt?: (attempt: Attempt) => void;
};

export type EnvironmentOptions = {
  /** Ids and data follow from it; default 1. */
  readonly seed?: number;
  /** Default one hour. */
  readonly tokenLifetimeSeconds?: number;
  /** The life left in the initial token, its `iat` set back accordingly; default: a whole lifetime. */
  readonly initialTokenRemainingSeconds?: number;
  /** Whether a refresh ends the token that it was called with; default false. */
  readonly refreshEndsToken?: boolean;
  /** Whether an event tells of an account's creation, where its creator does not choose; default true. */
  readonly alertOnAccountCreation?: boolean;
  /** How long a data fetch takes on the clock; default 0. */
  readonly fetchDurationMs?: number;
  /** How often data that was fetched is fetched anew, on the clock; default one day. */
  readonly dataUpdateIntervalMs?: number;
  readonly delivery?: DeliveryOptions;
  /** Unlimited by default; calls over it are answered 429. */
  readonly requestsPerMinute?: number;
  /** How `Retry-After` is written; default: in seconds. */
  readonly retryAfter?: RetryAfterForm;
  /** The most items of a list that are given at once; unset: a list is whole where no part of it is asked for. */
  readonly pageSize?: number;
  /** The platforms that can be connected; default: invented ones. */
  readonly datasources?: readonly Datasource[];
  /** How long a datasource takes to judge credentials, on the clock; default 0. */
  readonly signInDurationMs?: number;
  /** How the connection flow looks. */
  readonly branding?: Branding;
};

export type DropOptions = {
  /** Whether the events of all this are recorded and never sent, as if they were lost; default false. */
  readonly drop?: boolean;
};

export type CreateUsersOptions = DropOptions & {
  /** Default 1. */
  readonly accountsPerUser?: number;
  /** Company accounts in all, dealt out over the users; default 0. */
  readonly companyAccounts?: number;
  /** How many accounts have a large picture in their profiles; default 0. */
  readonly pictures?: number;
  /** Whether events tell of the accounts' creation; default: the environment's choice. */
  readonly accountAlert?: boolean;
};

export type CreateAccountOptions = Pick<SubmitOptions, "company" | "accountAlert"> & {
  /** Whether the datasource accepts the credentials at once; default true. */
  readonly connected?: boolean;
};

/** Over what many stores take in one record. */
const largePictureBytes = 450_000;

export type CreatedUsers = {
  readonly users: readonly string[];
  readonly accounts: readonly string[];
  readonly companyAccounts: readonly string[];
};

export type FireOptions = {
  /** How many deliveries of the same body; default 1. */
  readonly times?: number;
  /** Sent in place of the webhook's own headers of the same names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Given up after this many attempts; by default only time ends the retries. */
  readonly maxAttempts?: number;
  /** Sent first after this time on the clock; default 0. */
  readonly delaySeconds?: number;
  /** Recorded, never sent. */
  readonly drop?: boolean;
};

/** One environment of the service: its API and what an operator's bench does to it. */
export type Environment = {
  readonly baseUrl: string;
  /** The initial token, issued out of band. */
  readonly token: string;
  /** Registers users, submits credentials, connects the accounts; the events are queued for delivery. */
  createUsers(count: number, options?: CreateUsersOptions): Promise<CreatedUsers>;
  /** Submits credentials of a user. @returns the account's id @throws if the user is unknown */
  createAccount(userId: string, options?: CreateAccountOptions): string;
  /** Delivers any body to a kind's webhook. @returns the deliveries' ids @throws if a header can't be sent */
  fireEvent(kind: WebhookKind, payload: object | string | Buffer, options?: FireOptions): readonly string[];
  /** @throws if the account is unknown or deleted; so do the other changes */
  disconnectAccount(accountId: string, options?: DropOptions): void;
  reconnectAccount(accountId: string, options?: DropOptions): void;
  deleteAccount(accountId: string, options?: DropOptions): void;
  /** Fetches an account's data without being asked, as it does once a day. @throws if the account is unknown */
  fetchData(accountId: string, endpoints: readonly EndpointName[]): void;
  /** Deletes the user's accounts as well. */
  deleteUser(userId: string): void;
  /** Lets the next calls fail, whether their tokens are valid or not. */
  fault(fault: Fault): void;
  /** Ends every fault. */
  clearFaults(): void;
  /** Issues one more token. */
  issueToken(remainingSeconds?: number): Promise<string>;
  /** Ends every token issued so far. @returns how many */
  endTokens(how: TokenEnd): number;
  /** Gives payloads another shape; see `Shapes.set`. */
  shape(thing: ShapedThing, template: unknown): void;
  /** Makes endpoint events at a rate. */
  load(load: Load): void;
  /** Every call received, the oldest first. */
  calls(): readonly Call[];
  deliveries(query?: DeliveryQuery): readonly Delivery[];
  /** What is registered for a kind; undefined where nothing is. */
  webhook(kind: WebhookKind): Webhook | undefined;
  /** Delivers an event once more. @returns whether there is one with this id */
  resend(deliveryId: string): boolean;
  /** Resolves when no sign-in and no fetch is under way and no delivery pending. */
  settled(): Promise<void>;
  /** Resolves when no delivery is being tried or due: those that wait for a retry may remain. */
  quiet(): Promise<void>;
  /** Sets how the connection flow looks. @throws a range error that names what is wrong */
  brand(branding: Branding): void;
  /** How the connection flow was used; in production only. */
  analytics(): readonly FlowEvent[];
  /** The API's OpenAPI description, as it is served. */
  openapi(): object;
  /** What exists: what a pipeline that missed nothing has in its tables. */
  snapshot(): Snapshot;
  /** What the data call of an account answers; undefined where it answers 404. */
  data(accountId: string, endpoint: string): unknown;
  close(): Promise<void>;
};

export type EnvironmentDependencies = {
  readonly name: EnvironmentName;
  readonly port: number;
  readonly clock: Clock;
  /** Closed with the environment. */
  readonly store: Store;
};

const dayMs = 86_400_000;

/** Starts an environment on the loopback interface. @throws the listening error if the port is taken */
export async function startEnvironment(
  { name, port, clock: serviceClock, store }: EnvironmentDependencies,
  options: EnvironmentOptions,
): Promise<Environment> {
  const clock = endingClock(serviceClock);
  const tokens = createTokens({
    clock,
    store,
    environment: name,
    lifetimeSeconds: options.tokenLifetimeSeconds ?? 3600,
    refreshEndsToken: options.refreshEndsToken ?? false,
  });
  const webhooks = createWebhookRegistry(store);
  const shapes = createShapes(store);
  const engine = startDeliveries(options.delivery ?? {}, { clock, store, webhooks });
  const datasources = choiceOf(options.datasources ?? standardDatasources);
  let baseUrl = "";
  let isDropping = false;
  const tell: Tell = (run, { drop = false } = {}) => {
    isDropping = drop;
    try {
      run();
    } finally {
      isDropping = false;
    }
  };
  const world = createWorld({
    clock,
    store,
    nextId: idSource(`${options.seed ?? 1} ${name}`, store),
    emit: (kind, payload) => {
      const delivery = { kind, body: bodyOf(shapes.apply(kind, payload)?.shaped ?? payload), headers: {} };
      if (isDropping) engine.drop(delivery);
      else engine.deliver(delivery);
    },
    datasources,
    alertOnAccountCreation: options.alertOnAccountCreation ?? true,
    fetchDurationMs: options.fetchDurationMs ?? 0,
    connectUrl: () => baseUrl,
  });
  const calls = createCallLog();
  const faults = createFaults();
  const rateLimit = createRateLimit(clock, options.requestsPerMinute ?? Number.POSITIVE_INFINITY);
  const production = name === "production";
  const analytics = createAnalytics(clock.now, production);
  const signInDurationMs = options.signInDurationMs ?? 0;
  const signIns = createSignIns({ environment: name, world, clock, analytics, signInDurationMs });
  let branding: Branding = {};
  const brand = (given: Branding) => {
    checkBranding(given);
    branding = given;
  };
  brand(options.branding ?? {});
  const flow = { production, world, signIns, analytics, datasources, branding: () => branding };
  const retryAfter = retryAfterWriter(options.retryAfter ?? "seconds", clock.now);
  const guard = { clock, tokens, calls, faults, rateLimit, retryAfter };
  const api = await createApi({ ...guard, world, webhooks, shapes, flow, pageSize: options.pageSize });
  const close = async () => {
    await api.close();
    await engine.close();
    // Last: what is under way until here may still be kept.
    clock.end();
    store.close();
  };
  updatePeriodically(world, clock, options.dataUpdateIntervalMs ?? dayMs);
  try {
    await api.listen({ host: "127.0.0.1", port });
  } catch (error) {
    await close();
    throw error;
  }
  baseUrl = urlOf(api.server.address());
  return {
    baseUrl,
    token: await tokens.issue(options.initialTokenRemainingSeconds),
    ...worldControls(world, clock, tell),
    ...deliveryControls(engine, clock),
    fault: faults.add,
    clearFaults: faults.clear,
    issueToken: tokens.issue,
    endTokens: tokens.endAll,
    shape: shapes.set,
    calls: calls.list,
    webhook: webhooks.get,
    openapi: () => api.swagger(),
    brand,
    analytics: analytics.list,
    settled: async () => {
      await signIns.ended();
      await world.fetched();
      await engine.settled();
    },
    close,
  };
}

function startDeliveries(
  options: DeliveryOptions,
  { clock, store, webhooks }: { clock: Clock; store: Store; webhooks: WebhookRegistry },
): DeliveryEngine {
  const concurrency = options.concurrency ?? 16;
  return createDeliveryEngine({
    clock,
    webhooks,
    queue: openDeliveryQueue(store),
    sender: createSender(concurrency, options.timeoutMs ?? 10_000),
    onAttempt: options.onAttempt ?? (() => undefined),
    policy: {
      firstRetryMs: options.firstRetryMs ?? 30_000,
      maxRetryMs: options.maxRetryMs ?? 3_600_000,
      giveUpAfterMs: options.giveUpAfterMs ?? 3 * dayMs,
      concurrency,
    },
  });
}

/** Runs something, in one turn, of which the events are sent, or recorded and never sent. */
type Tell = (run: () => void, options?: DropOptions) => void;

function worldControls(world: World, clock: Clock, tell: Tell) {
  return {
    createUsers: (count: number, options: CreateUsersOptions = {}) =>
      createUsers(world, count, options, (run) => tell(run, options)),
    createAccount: (userId: string, { connected = true, ...options }: CreateAccountOptions = {}) => {
      const { id } = world.submitCredentials(userId, options);
      return connected ? world.connect(id).id : id;
    },
    disconnectAccount: (id: string, options?: DropOptions) => tell(() => world.disconnect(id), options),
    reconnectAccount: (id: string, options?: DropOptions) => tell(() => world.connect(id), options),
    deleteAccount: (id: string, options?: DropOptions) => tell(() => world.deleteAccount(id), options),
    fetchData: (id: string, endpoints: readonly EndpointName[]) => void world.startFetch(id, endpoints),
    deleteUser: world.deleteUser,
    load: (load: Load) => runLoad(world, clock, load),
    snapshot: () => takeSnapshot(world),
    data: (accountId: string, endpoint: string) => {
      const account = world.account(accountId);
      if (account === undefined || account.deleted || !isEndpointName(endpoint)) return undefined;
      return world.data(account, endpoint);
    },
  };
}

function deliveryControls(engine: DeliveryEngine, clock: Clock) {
  return {
    fireEvent: (kind: WebhookKind, payload: object | string | Buffer, options: FireOptions = {}) => {
      const { times = 1, headers = {}, maxAttempts, delaySeconds = 0, drop = false } = options;
      checkHeaders(headers);
      const delivery = {
        kind,
        headers,
        body: bodyOf(payload),
        notBefore: new Date(clock.now().getTime() + delaySeconds * 1000),
        ...(maxAttempts === undefined ? {} : { maxAttempts }),
      };
      const send = drop ? engine.drop : engine.deliver;
      return Array.from({ length: times }, () => send(delivery));
    },
    deliveries: engine.list,
    resend: engine.resend,
    quiet: engine.quiet,
  };
}

/** How many users are made before others get a turn: a large number must not keep calls waiting. */
const usersPerTurn = 100;

async function createUsers(
  world: World,
  count: number,
  { accountsPerUser = 1, companyAccounts = 0, pictures = 0, accountAlert }: CreateUsersOptions,
  inOneTurn: Tell,
): Promise<CreatedUsers> {
  const users: string[] = [];
  const accounts: string[] = [];
  const companies: string[] = [];
  const alert = accountAlert === undefined ? {} : { accountAlert };
  const connected = (userId: string, company: boolean) => {
    const pictureBytes = !company && accounts.length < pictures ? largePictureBytes : 0;
    return world.connect(world.submitCredentials(userId, { company, pictureBytes, ...alert }).id).id;
  };
  const createUser = (index: number) => {
    const { id } = world.registerUser();
    users.push(id);
    for (let made = 0; made < accountsPerUser; made += 1) accounts.push(connected(id, false));
    const ownCompanies = Math.floor(companyAccounts / count) + (index < companyAccounts % count ? 1 : 0);
    for (let made = 0; made < ownCompanies; made += 1) companies.push(connected(id, true));
  };
  for (let index = 0; index < count; index += 1) {
    inOneTurn(() => createUser(index));
    if (index % usersPerTurn === usersPerTurn - 1) await new Promise((resolve) => setImmediate(resolve));
  }
  return { users, accounts, companyAccounts: companies };
}

function choiceOf(datasources: readonly Datasource[]): readonly [Datasource, ...Datasource[]] {
  const [first, ...others] = datasources;
  if (first === undefined) throw new RangeError("datasources: name one at least");
  return [first, ...others];
}

function bodyOf(payload: unknown): Buffer {
  if (Buffer.isBuffer(payload)) return payload;
  return Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload));
}

export function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === "string") throw new Error("the service listens on no port");
  return `http://127.0.0.1:${address.port}`;
}
