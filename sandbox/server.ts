import type { AddressInfo } from "node:net";
import { createApi } from "./api/app.ts";
import { type Call, createCallLog } from "./api/call-log.ts";
import { createFaults, type Fault } from "./api/faults.ts";
import { createRateLimit } from "./api/rate-limit.ts";
import { type Clock, runningClock } from "./clock.ts";
import { idSource } from "./data/random.ts";
import { createDeliveryEngine } from "./delivery/engine.ts";
import { type Delivery, openDeliveryQueue } from "./delivery/queue.ts";
import { createSender } from "./delivery/send.ts";
import { isEndpointName } from "./endpoint-names.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";
import { createTokens } from "./tokens.ts";
import { createWebhookRegistry, type Webhook, type WebhookKind } from "./webhooks.ts";
import { createWorld, type World } from "./world.ts";

export type { Call, Clock, Delivery, Fault, Snapshot, Webhook, WebhookKind };

export type SandboxOptions = {
  /** Where the sandbox environment listens, on the loopback interface; 0 (default): a free port. */
  readonly port?: number;
  /** Ids and data follow from it; default 1. */
  readonly seed?: number;
  /** The system's time by default. */
  readonly clock?: Clock;
  readonly tokenLifetimeSeconds?: number;
  /** The life left in the initial token, its `iat` set back accordingly; default: a whole lifetime. */
  readonly initialTokenRemainingSeconds?: number;
  /** Whether an account event tells of an account's creation; default true. */
  readonly alertOnAccountCreation?: boolean;
  /** How long a data fetch takes on the clock; default 0. */
  readonly fetchDurationMs?: number;
  readonly delivery?: {
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
  };
  /** Unlimited by default; calls over it are answered 429. */
  readonly requestsPerMinute?: number;
};

export type CreateUsersOptions = {
  /** Default 1. */
  readonly accountsPerUser?: number;
  /** Company accounts in all, dealt out over the users; default 0. */
  readonly companyAccounts?: number;
};

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
};

export type Sandbox = {
  readonly baseUrl: string;
  /** The initial token, issued out of band. */
  readonly token: string;
  /** Registers users, submits credentials, connects the accounts; the events are queued for delivery. */
  createUsers(count: number, options?: CreateUsersOptions): Promise<CreatedUsers>;
  /** Delivers any body to a kind's webhook. @returns the deliveries' ids */
  fireEvent(kind: WebhookKind, payload: object | string | Buffer, options?: FireOptions): readonly string[];
  /** @throws if the account is unknown or deleted; so do the other changes */
  disconnectAccount(accountId: string): void;
  reconnectAccount(accountId: string): void;
  deleteAccount(accountId: string): void;
  /** Deletes the user's accounts as well. */
  deleteUser(userId: string): void;
  /** Lets the next calls fail, whether their tokens are valid or not. */
  fault(fault: Fault): void;
  /** Issues one more token. */
  issueToken(remainingSeconds?: number): Promise<string>;
  /** Every call received, the oldest first. */
  calls(): readonly Call[];
  deliveries(): readonly Delivery[];
  /** What is registered for a kind; undefined where nothing is. */
  webhook(kind: WebhookKind): Webhook | undefined;
  /** Resolves when no fetch is under way and no delivery pending. */
  settled(): Promise<void>;
  /** Resolves when no delivery is being tried or due: those that wait for a retry may remain. */
  quiet(): Promise<void>;
  /** What exists: what a pipeline that missed nothing has in its tables. */
  snapshot(): Snapshot;
  /** What the data call of an account answers; undefined where it answers 404. */
  data(accountId: string, endpoint: string): unknown;
  close(): Promise<void>;
};

const dayMs = 86_400_000;

/**
 * Starts the income-data service on the loopback interface.
 * @throws the listening error (`EADDRINUSE`) if the port is taken
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { clock = runningClock(), delivery = {}, tokenLifetimeSeconds = 3600 } = options;
  const tokens = createTokens({ clock, lifetimeSeconds: tokenLifetimeSeconds, environment: "sandbox" });
  const webhooks = createWebhookRegistry();
  const concurrency = delivery.concurrency ?? 16;
  const engine = createDeliveryEngine({
    clock,
    webhooks,
    queue: openDeliveryQueue(":memory:"),
    sender: createSender(concurrency, delivery.timeoutMs ?? 10_000),
    policy: {
      firstRetryMs: delivery.firstRetryMs ?? 30_000,
      maxRetryMs: delivery.maxRetryMs ?? 3_600_000,
      giveUpAfterMs: delivery.giveUpAfterMs ?? 3 * dayMs,
      concurrency,
    },
  });
  let baseUrl = "";
  const world = createWorld({
    clock,
    nextId: idSource(options.seed ?? 1),
    emit: (kind, payload) => {
      engine.deliver({ kind, body: Buffer.from(JSON.stringify(payload)), headers: {} });
    },
    alertOnAccountCreation: options.alertOnAccountCreation ?? true,
    fetchDurationMs: options.fetchDurationMs ?? 0,
    connectUrl: () => baseUrl,
  });
  const calls = createCallLog();
  const faults = createFaults();
  const rateLimit = createRateLimit(clock, options.requestsPerMinute ?? Number.POSITIVE_INFINITY);
  const api = createApi({ clock, tokens, world, webhooks, calls, faults, rateLimit });
  try {
    await api.listen({ host: "127.0.0.1", port: options.port ?? 0 });
  } catch (error) {
    await engine.close();
    throw error;
  }
  baseUrl = urlOf(api.server.address());
  return {
    baseUrl,
    token: await tokens.issue(options.initialTokenRemainingSeconds),
    createUsers: (count, given) => createUsers(world, count, given),
    fireEvent: (kind, payload, { times = 1, headers = {}, maxAttempts } = {}) => {
      const body = bodyOf(payload);
      const limit = maxAttempts === undefined ? {} : { maxAttempts };
      return Array.from({ length: times }, () => engine.deliver({ kind, body, headers, ...limit }));
    },
    disconnectAccount: (id) => void world.disconnect(id),
    reconnectAccount: (id) => void world.connect(id),
    deleteAccount: (id) => void world.deleteAccount(id),
    deleteUser: world.deleteUser,
    fault: faults.add,
    issueToken: tokens.issue,
    calls: calls.list,
    deliveries: engine.list,
    webhook: webhooks.get,
    settled: async () => {
      await world.fetched();
      await engine.settled();
    },
    quiet: engine.quiet,
    snapshot: () => takeSnapshot(world),
    data: (accountId, endpoint) => {
      const account = world.account(accountId);
      return account === undefined || account.deleted || !isEndpointName(endpoint)
        ? undefined
        : world.data(account, endpoint);
    },
    close: async () => {
      await api.close();
      await engine.close();
    },
  };
}

/** How many users are made before others get a turn: a large number must not keep calls waiting. */
const usersPerTurn = 100;

async function createUsers(
  world: World,
  count: number,
  { accountsPerUser = 1, companyAccounts = 0 }: CreateUsersOptions = {},
): Promise<CreatedUsers> {
  const users: string[] = [];
  const accounts: string[] = [];
  const companies: string[] = [];
  const connected = (userId: string, company: boolean) =>
    world.connect(world.submitCredentials(userId, { company }).id).id;
  for (let index = 0; index < count; index += 1) {
    const { id } = world.registerUser();
    users.push(id);
    for (let made = 0; made < accountsPerUser; made += 1) accounts.push(connected(id, false));
    const ownCompanies = Math.floor(companyAccounts / count) + (index < companyAccounts % count ? 1 : 0);
    for (let made = 0; made < ownCompanies; made += 1) companies.push(connected(id, true));
    if (index % usersPerTurn === usersPerTurn - 1) await new Promise((resolve) => setImmediate(resolve));
  }
  return { users, accounts, companyAccounts: companies };
}

function bodyOf(payload: object | string | Buffer): Buffer {
  if (Buffer.isBuffer(payload)) return payload;
  return Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload));
}

function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === "string") throw new Error("the sandbox listens on no port");
  return `http://127.0.0.1:${address.port}`;
}
