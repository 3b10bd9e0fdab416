import type { Clock } from "./clock.ts";
import { type DataSource, dataRange, dataSet } from "./data/data-sets.ts";
import { type Datasource, datasources } from "./datasources.ts";
import { type EndpointName, endpointNames } from "./endpoint-names.ts";
import { type AccountEvent, accountPayload, endpointPayload, userPayload } from "./payloads.ts";
import type { WebhookKind } from "./webhooks.ts";

export type User = {
  readonly id: string;
  readonly createdAt: Date;
  /** Where this user's connection flow is; with `session` a live credential. */
  readonly link: string;
  readonly session: string;
  readonly sessionExpiresAt: Date;
};

/** The link between a user and a datasource. A company account is managed through the company API. */
export type Account = {
  readonly id: string;
  readonly userId: string;
  readonly datasource: Datasource;
  readonly company: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly connected: boolean;
  readonly deleted: boolean;
  /** The endpoints whose data has been fetched. */
  readonly data: ReadonlyMap<EndpointName, DataVersion>;
};

export type DataVersion = { readonly version: number; readonly updatedAt: Date };

export type World = {
  /** An end user registers through the connection flow. */
  registerUser(): User;
  /** Credentials are submitted: the account exists, not connected yet. */
  submitCredentials(userId: string, options?: { readonly company?: boolean }): Account;
  /** The datasource accepts the credentials (again). */
  connect(accountId: string): Account;
  disconnect(accountId: string): Account;
  deleteAccount(accountId: string): Account;
  deleteUser(userId: string): void;
  /** Starts a fetch; its endpoint events come once it has ended. @returns the request's id */
  startFetch(accountId: string, endpoints: readonly EndpointName[]): string;
  users(): readonly User[];
  user(id: string): User | undefined;
  accounts(): readonly Account[];
  account(id: string): Account | undefined;
  accountsOf(userId: string): readonly Account[];
  /** An endpoint's data as its API serves it; undefined where none was fetched. */
  data(account: Account, endpoint: EndpointName): ReturnType<typeof dataSet> | undefined;
  /** Resolves when no fetch is under way. */
  fetched(): Promise<void>;
};

export type WorldDependencies = {
  readonly clock: Clock;
  readonly nextId: () => string;
  readonly emit: (kind: WebhookKind, payload: object) => void;
  readonly alertOnAccountCreation: boolean;
  /** How long the datasource takes to answer a fetch, on the sandbox's clock. */
  readonly fetchDurationMs: number;
  /** Where the connection flow is; known once the server listens. */
  readonly connectUrl: () => string;
};

const sessionMs = 3_600_000;

/** Users, accounts and what happens to them. Each change tells the operator by an event. */
export function createWorld(dependencies: WorldDependencies): World {
  const { clock, nextId, emit, alertOnAccountCreation, fetchDurationMs, connectUrl } = dependencies;
  const users = new Map<string, User>();
  const accounts = new Map<string, Account>();
  const accountIdsOfUsers = new Map<string, string[]>();
  const fetchWaiters: (() => void)[] = [];
  let fetchesUnderWay = 0;
  let registered = 0;

  const accountsOf = (userId: string) =>
    (accountIdsOfUsers.get(userId) ?? []).map(known).filter(({ deleted }) => !deleted);

  function known(accountId: string): Account {
    const account = accounts.get(accountId);
    if (account === undefined) throw new Error(`there is no account ${accountId}`);
    return account;
  }

  function knownUser(userId: string): User {
    const user = users.get(userId);
    if (user === undefined) throw new Error(`there is no user ${userId}`);
    return user;
  }

  function change(account: Account, fields: Partial<Account>): Account {
    if (account.deleted) throw new Error(`account ${account.id} was deleted`);
    const changed = { ...account, ...fields, updatedAt: clock.now() };
    accounts.set(account.id, changed);
    return changed;
  }

  function tell(event: AccountEvent, account: Account): Account {
    emit(account.company ? "company-accounts" : "accounts", accountPayload(event, account));
    return account;
  }

  function nextVersions(account: Account, endpoints: readonly EndpointName[]) {
    const data = new Map(account.data);
    for (const endpoint of endpoints) {
      data.set(endpoint, { version: (data.get(endpoint)?.version ?? 0) + 1, updatedAt: clock.now() });
    }
    return data;
  }

  function endFetch(accountId: string, endpoints: readonly EndpointName[], requestId: string): void {
    const account = known(accountId);
    // An account that was disconnected or deleted meanwhile yields nothing more.
    if (!account.connected || account.deleted) return;
    const fetched = change(account, { data: nextVersions(account, endpoints) });
    if (account.company) {
      tell("update_account", fetched);
      return;
    }
    for (const endpoint of endpoints) {
      const range = dataRange(sourceOf(fetched), fetched.data.get(endpoint)?.version ?? 1);
      emit("endpoints", endpointPayload(fetched, endpoint, requestId, range));
    }
  }

  return {
    registerUser: () => {
      const now = clock.now();
      const session = nextId();
      const user = {
        id: nextId(),
        createdAt: now,
        link: `${connectUrl()}/connect/${session}`,
        session,
        sessionExpiresAt: new Date(now.getTime() + sessionMs),
      };
      users.set(user.id, user);
      registered += 1;
      emit("users", userPayload("create_user", user, 0));
      return user;
    },
    submitCredentials: (userId, { company = false } = {}) => {
      const user = knownUser(userId);
      const ids = accountIdsOfUsers.get(user.id) ?? [];
      const now = clock.now();
      const account: Account = {
        id: nextId(),
        userId: user.id,
        datasource: datasources[(registered + ids.length) % datasources.length] ?? datasources[0],
        company,
        createdAt: now,
        updatedAt: now,
        connected: false,
        deleted: false,
        data: new Map(),
      };
      accounts.set(account.id, account);
      accountIdsOfUsers.set(user.id, [...ids, account.id]);
      if (alertOnAccountCreation && !company) tell("create_account", account);
      return account;
    },
    connect: (accountId) => {
      const account = known(accountId);
      // The company API tells of its data by "updated" events only, so a company account's data is there at once.
      const data =
        account.company && account.data.size === 0 ? nextVersions(account, endpointNames) : account.data;
      const connected = change(account, { connected: true, data });
      return tell(account.company ? "connect_account" : "update_account", connected);
    },
    disconnect: (accountId) => tell("disconnect_account", change(known(accountId), { connected: false })),
    deleteAccount: (accountId) =>
      tell("delete_account", change(known(accountId), { connected: false, deleted: true })),
    deleteUser: (userId) => {
      const user = knownUser(userId);
      for (const account of accountsOf(user.id)) {
        tell("delete_account", change(account, { connected: false, deleted: true }));
      }
      users.delete(user.id);
      emit("users", userPayload("delete_user", user, 0));
    },
    startFetch: (accountId, endpoints) => {
      const account = known(accountId);
      const requestId = nextId();
      fetchesUnderWay += 1;
      clock.schedule(new Date(clock.now().getTime() + fetchDurationMs), () => {
        endFetch(account.id, endpoints, requestId);
        fetchesUnderWay -= 1;
        if (fetchesUnderWay === 0) for (const resolve of fetchWaiters.splice(0)) resolve();
      });
      return requestId;
    },
    users: () => [...users.values()],
    user: (id) => users.get(id),
    accounts: () => [...accounts.values()],
    account: (id) => accounts.get(id),
    accountsOf,
    data: (account, endpoint) => {
      const version = account.data.get(endpoint);
      if (version === undefined) return undefined;
      return dataSet(endpoint, sourceOf(account), version.version, version.updatedAt);
    },
    fetched: () =>
      fetchesUnderWay === 0 ? Promise.resolve() : new Promise((resolve) => fetchWaiters.push(resolve)),
  };
}

function sourceOf({ id, userId, datasource, createdAt }: Account): DataSource {
  return { accountId: id, userId, datasourceName: datasource.name, createdAt };
}
