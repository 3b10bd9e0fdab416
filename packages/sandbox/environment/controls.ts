import type { User } from "../accounts.ts";
import { checkHeaders } from "../api/header-rules.ts";
import type { Clock } from "../clock.ts";
import type { DeliveryEngine } from "../delivery/engine.ts";
import { type EndpointName, isEndpointName } from "../endpoint-names.ts";
import type { ProviderModel } from "../provider-model.ts";
import type { WebhookKind } from "../webhooks.ts";
import type { CreateAccountOptions, CreateUsersOptions, DropOptions, FireOptions } from "./contract.ts";

/** Runs an action whose events are sent, or only recorded. */
export type Announce = (run: () => void, options?: DropOptions) => void;

export function dataControls(model: ProviderModel, announce: Announce) {
  return {
    /** Registers users, submits credentials and connects the accounts; queues the events for delivery. */
    createUsers: (count: number, options: CreateUsersOptions = {}) =>
      createUsers(model, count, options, (run) => announce(run, options)),
    /**
     * Submits a user's credentials.
     * @returns the account's id
     * @throws if the user is unknown
     */
    createAccount: (userId: string, { connected = true, ...options }: CreateAccountOptions = {}) => {
      const { id } = model.submitCredentials(userId, options);
      return connected ? model.connect(id).id : id;
    },
    /** Disconnects an account. This and the other changes throw if the account is unknown or deleted. */
    disconnectAccount: (id: string, options?: DropOptions) => announce(() => model.disconnect(id), options),
    reconnectAccount: (id: string, options?: DropOptions) => announce(() => model.connect(id), options),
    deleteAccount: (id: string, options?: DropOptions) => announce(() => model.deleteAccount(id), options),
    /**
     * Fetches an account's data unprompted, as the provider does daily.
     * @throws if the account is unknown
     */
    fetchData: (id: string, endpoints: readonly EndpointName[]) => void model.startFetch(id, endpoints),
    /**
     * Replaces the operator's data about a user.
     * @throws if the user is unknown
     */
    replaceMetadata: (id: string, metadata: User["metadata"], options?: DropOptions) =>
      announce(() => model.replaceMetadata(id, metadata), options),
    /** Deletes a user with its accounts. */
    deleteUser: model.deleteUser,
    /** Everything that exists: what a pipeline that missed nothing has stored. */
    snapshot: () => takeSnapshot(model),
    /** Answer to a data call of an account; undefined if it would be 404. */
    data: (accountId: string, endpoint: string): unknown => {
      const account = model.account(accountId);
      if (account === undefined || account.deleted || !isEndpointName(endpoint)) return undefined;
      return model.data(account, endpoint);
    },
  };
}

export function deliveryControls(engine: DeliveryEngine, clock: Clock) {
  return {
    /**
     * Delivers any body to a kind's webhook.
     * @returns the deliveries' ids
     * @throws if a header cannot be sent
     */
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

/** `version` of readable data is its `revision`. Deleted accounts are included. */
function takeSnapshot(model: ProviderModel) {
  const accounts = model.accounts();
  return {
    users: model.users().map(({ id, createdAt, metadata }) => {
      return { id, createdAt, ...(metadata && { metadata }) };
    }),
    accounts: accounts.map(({ id, userId, datasource, company, connected, deleted }) => {
      return { id, userId, datasourceId: datasource.id, company, connected, deleted };
    }),
    endpoints: accounts
      .filter(({ deleted }) => !deleted)
      .flatMap(({ id, company, data }) =>
        [...data].map(([endpoint, { version }]) => ({ accountId: id, company, endpoint, version })),
      ),
  };
}

/** Larger than one record of many stores. */
const largePictureBytes = 450_000;

/** Users created before yielding, so that large numbers do not block calls. */
const usersPerTurn = 100;

async function createUsers(
  model: ProviderModel,
  count: number,
  { accountsPerUser = 1, companyAccounts = 0, pictures = 0, accountAlert, metadata }: CreateUsersOptions,
  inOneTurn: Announce,
) {
  const users: string[] = [];
  const accounts: string[] = [];
  const companies: string[] = [];
  const alert = accountAlert === undefined ? {} : { accountAlert };
  const connected = (userId: string, company: boolean) => {
    const pictureBytes = !company && accounts.length < pictures ? largePictureBytes : 0;
    return model.connect(model.submitCredentials(userId, { company, pictureBytes, ...alert }).id).id;
  };
  const before = model.users().length;
  const createUser = (index: number) => {
    const { id } = model.registerUser({ metadata: metadata ?? { loan_id: `L-${before + index + 1001}` } });
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

export function bodyOf(payload: unknown): Buffer {
  if (Buffer.isBuffer(payload)) return payload;
  return Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload));
}
