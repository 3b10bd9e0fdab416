import { type Account, keepAccount, storedAccount, storedUser, type User } from "./accounts.ts";
import type { Clock } from "./clock.ts";
import { dataSet } from "./data/data-sets.ts";
import { type Days, payPeriodRange } from "./data/ledger.ts";
import type { Datasource } from "./datasources.ts";
import { type EndpointName, endpointNames } from "./endpoint-names.ts";
import { createFetches, type DataFetch } from "./fetches.ts";
import {
  type AccountEvent,
  endpointPayload,
  multiEndpointPayload,
  payloadsOf,
  type UserEvent,
} from "./payloads.ts";
import type { ProviderInterface } from "./provider-interface.ts";
import type { Store } from "./store.ts";
import type { WebhookKind } from "./webhooks.ts";

export type ProviderModel = ReturnType<typeof createProviderModel>;

export type Registration = Partial<Pick<User, "name" | "accountAlert" | "metadata">>;

export type SubmitOptions = {
  readonly company?: boolean;
  /** Default: the datasources in turn. */
  readonly datasource?: Datasource;
  /** Size of the profile's picture in bytes; default 0: none. */
  readonly pictureBytes?: number;
  /** Whether an event announces this account; default: the user's choice, else the environment's setting. */
  readonly accountAlert?: boolean;
};

export type ProviderModelDependencies = {
  readonly clock: Clock;
  readonly store: Store;
  readonly interface: ProviderInterface;
  readonly nextId: () => string;
  /** @param datasource datasource of the event's account */
  readonly emit: (kind: WebhookKind, payload: object, datasource?: Datasource) => void;
  readonly datasources: readonly [Datasource, ...Datasource[]];
  readonly alertOnAccountCreation: boolean;
  /** Duration of a fetch, in milliseconds of the sandbox's clock. */
  readonly fetchDurationMs: number;
  /** URL of the connection flow; known once the server listens. */
  readonly connectUrl: () => string;
};

const sessionMs = 3_600_000;

/** State and changes of users and accounts. Each change sends an event to the operator. */
export function createProviderModel(dependencies: ProviderModelDependencies) {
  const { clock, store, nextId, emit, datasources, alertOnAccountCreation, fetchDurationMs, connectUrl } =
    dependencies;
  const isNewer = dependencies.interface === "0.5";
  const payloads = payloadsOf[dependencies.interface];
  const users = openUsers(store);
  const accounts = openAccounts(store, clock);
  const fetches = createFetches(clock, store, endFetch);

  function announce(event: AccountEvent, account: Account): Account {
    emit(account.company ? "company-accounts" : "accounts", payloads.account(event, account));
    return account;
  }

  function remove(account: Account): Account {
    return announce("delete_account", accounts.change(account, { connected: false, deleted: true }));
  }

  function endFetch({ accountId, endpoints, requestId }: DataFetch): void {
    const account = accounts.known(accountId);
    // An account that was disconnected or deleted meanwhile yields no more data.
    if (!account.connected || account.deleted) return;
    const fetched = accounts.change(account, { data: withNewData(account, endpoints, clock.now()) });
    if (account.company && !isNewer) return void announce("update_account", fetched);
    const news = endpoints.map((endpoint) => {
      const range = payPeriodRange(fetched.createdAt, fetched.data.get(endpoint)?.version ?? 1);
      return { endpoint, range };
    });
    const kind = account.company ? "company-endpoints" : "endpoints";
    for (const { endpoint, range } of news) emit(kind, endpointPayload(fetched, endpoint, requestId, range));
    if (isNewer && !account.company) {
      emit("multi-endpoints", multiEndpointPayload(fetched, news), account.datasource);
    }
  }

  function announceUser(event: UserEvent, user: User): void {
    const { length } = accounts.ofUser(user.id);
    emit("users", payloads.user(event, user, length, `${connectUrl()}/connect/${user.session}`));
  }

  return {
    /** Registers an end user, as through the connection flow. */
    registerUser: ({ name = "", ...choices }: Registration = {}): User => {
      const now = clock.now();
      const session = nextId();
      const sessionExpiresAt = new Date(now.getTime() + sessionMs);
      const user = { id: nextId(), name, createdAt: now, session, sessionExpiresAt, ...choices };
      users.add(user);
      announceUser("create_user", user);
      return user;
    },
    /** Submits credentials: creates the account, which is not connected yet. */
    submitCredentials: (userId: string, options: SubmitOptions = {}): Account => {
      const { company = false, datasource, pictureBytes = 0, accountAlert } = options;
      const user = users.known(userId);
      const now = clock.now();
      const account = accounts.add({
        id: nextId(),
        userId: user.id,
        datasource: datasource ?? datasources[accounts.size() % datasources.length] ?? datasources[0],
        company,
        createdAt: now,
        updatedAt: now,
        connected: false,
        deleted: false,
        pictureBytes,
        data: new Map(),
      });
      const alert = accountAlert ?? user.accountAlert ?? alertOnAccountCreation;
      if (alert && !company) announce("create_account", account);
      return account;
    },
    /** Connects the account: the datasource accepts the credentials (again). */
    connect: (accountId: string): Account => {
      const account = accounts.known(accountId);
      const isNew = account.data.size === 0;
      // The company API announces data by "updated" events only, so a new company account has data at once.
      const data = account.company && isNew ? withNewData(account, endpointNames, clock.now()) : account.data;
      const connected = accounts.change(account, { connected: true, data });
      return announce(account.company ? "connect_account" : payloads.connected, connected);
    },
    disconnect: (accountId: string): Account =>
      announce("disconnect_account", accounts.change(accounts.known(accountId), { connected: false })),
    deleteAccount: (accountId: string): Account => remove(accounts.known(accountId)),
    deleteUser: (userId: string): void => {
      const user = users.known(userId);
      for (const account of accounts.ofUser(user.id)) remove(account);
      users.remove(user);
      announceUser("delete_user", user);
    },
    replaceMetadata: (userId: string, metadata: User["metadata"] = {}): User => {
      const user = { ...users.known(userId), metadata };
      users.add(user);
      announceUser("update_user", user);
      return user;
    },
    /** Starts a fetch, which sends endpoint events when it ends; returns the request's id. */
    startFetch: (accountId: string, endpoints: readonly EndpointName[]): string => {
      const requestId = nextId();
      const endsAt = new Date(clock.now().getTime() + fetchDurationMs);
      fetches.start({ requestId, accountId: accounts.known(accountId).id, endpoints, endsAt });
      return requestId;
    },
    users: users.all,
    user: users.get,
    /** User of a session of the connection flow; undefined if it has expired. */
    userOfSession: (session: string) => users.ofSession(session, clock.now()),
    accounts: accounts.all,
    account: accounts.get,
    accountsOf: accounts.ofUser,
    /** An endpoint's data as the API serves it; undefined if none was fetched. */
    data: dataOf,
    fetched: fetches.ended,
  };
}

function withNewData({ data: before }: Account, endpoints: readonly EndpointName[], updatedAt: Date) {
  const data = new Map(before);
  for (const endpoint of endpoints) {
    data.set(endpoint, { version: (data.get(endpoint)?.version ?? 0) + 1, updatedAt });
  }
  return data;
}

/** Stored users, by id and by session. */
function openUsers(store: Store) {
  const users = store.collection("users", storedUser);
  const sessions = new Map([...users.values()].map(({ id, session }) => [session, id]));
  return {
    add: (user: User): void => {
      users.set(user.id, user);
      sessions.set(user.session, user.id);
    },
    remove: ({ id, session }: User): void => {
      users.delete(id);
      sessions.delete(session);
    },
    /** @throws if the user does not exist */
    known: (userId: string): User => {
      const user = users.get(userId);
      if (user === undefined) throw new Error(`there is no user ${userId}`);
      return user;
    },
    get: (userId: string) => users.get(userId),
    /** Returns undefined once the session has expired. */
    ofSession: (session: string, now: Date) => {
      const user = users.get(sessions.get(session) ?? "");
      return user === undefined || user.sessionExpiresAt <= now ? undefined : user;
    },
    all: (): readonly User[] => [...users.values()],
  };
}

/** Stored accounts, by id and by user. */
function openAccounts(store: Store, clock: Clock) {
  const accounts = store.collection("accounts", storedAccount, keepAccount);
  const idsOfUsers = Map.groupBy(accounts.keys(), (id) => known(id).userId);

  function known(accountId: string): Account {
    const account = accounts.get(accountId);
    if (account === undefined) throw new Error(`there is no account ${accountId}`);
    return account;
  }

  function keep(account: Account): Account {
    accounts.set(account.id, account);
    return account;
  }

  return {
    add: (account: Account): Account => {
      idsOfUsers.set(account.userId, [...(idsOfUsers.get(account.userId) ?? []), account.id]);
      return keep(account);
    },
    /** @throws if the account was deleted */
    change: (account: Account, fields: Partial<Account>): Account => {
      if (account.deleted) throw new Error(`account ${account.id} was deleted`);
      return keep({ ...account, ...fields, updatedAt: clock.now() });
    },
    /** @throws if the account does not exist */
    known,
    get: (accountId: string) => accounts.get(accountId),
    all: (): readonly Account[] => [...accounts.values()],
    size: () => accounts.size,
    /** The user's accounts that are not deleted. */
    ofUser: (userId: string): readonly Account[] =>
      (idsOfUsers.get(userId) ?? []).map(known).filter(({ deleted }) => !deleted),
  };
}

function dataOf(account: Account, endpoint: EndpointName, days?: Days) {
  const version = account.data.get(endpoint);
  return version && dataSet(endpoint, account, version, days);
}
