import type { Account, User } from "./accounts.ts";
import type { Days } from "./data/ledger.ts";
import type { ProviderInterface } from "./provider-interface.ts";
import { formatNanoseconds, formatTimestamp } from "./timestamps.ts";

/**
 * Payloads of events. The specification does not show them, so they follow a public provider of the same
 * kind. Only an endpoint event's `request_id` distinguishes events, and none has a timestamp.
 */
export type AccountEvent =
  | "create_account"
  | "update_account"
  | "connect_account"
  | "disconnect_account"
  | "delete_account";

export type UserEvent = "create_user" | "update_user" | "delete_user";

export type Payloads = {
  /** Event sent when a datasource accepts an account's credentials. */
  readonly connected: AccountEvent;
  user(event: UserEvent, user: User, accounts: number, link: string): object;
  account(event: AccountEvent, account: Account): object;
};

export const payloadsOf: Readonly<Record<ProviderInterface, Payloads>> = {
  "0.4": {
    connected: "update_account",
    user: (action, user, accounts, link) => ({
      action,
      data: {
        id: user.id,
        ...(user.metadata && { metadata: user.metadata }),
        created_at: formatTimestamp(user.createdAt),
        accounts_number: accounts,
        link,
        session: user.session,
        session_expires_at: formatTimestamp(user.sessionExpiresAt),
      },
    }),
    account: (event, account) => ({
      event,
      [account.company ? "company_account_id" : "account_id"]: account.id,
      user_id: account.userId,
      datasource_id: account.datasource.id,
      connected: account.connected,
      created_at: formatTimestamp(account.createdAt),
    }),
  },
  "0.5": {
    connected: "connect_account",
    user: (event, user, accounts) => ({
      event,
      user_id: user.id,
      metadata: user.metadata ?? {},
      created_at: formatNanoseconds(user.createdAt),
      account_count: accounts,
    }),
    account: (action, account) => ({
      action,
      ...accountIds(account),
      datasource_id: account.datasource.id,
      connected: account.connected,
      created_at: formatNanoseconds(account.createdAt),
    }),
  },
};

export function endpointPayload(account: Account, endpoint: string, requestId: string, range: Days): object {
  return {
    event: "update_endpoint",
    request_id: requestId,
    ...accountIds(account),
    ...fetchedEndpoint(endpoint, range),
  };
}

export function multiEndpointPayload(
  account: Account,
  endpoints: readonly { readonly endpoint: string; readonly range: Days }[],
): object {
  return {
    event: "update_multi_endpoint",
    ...accountIds(account),
    endpoints: endpoints.map(({ endpoint, range }) => fetchedEndpoint(endpoint, range)),
  };
}

/** Creates the event of a step in the connection flow; these events have no name. */
export function connectFlowPayload(
  { id, userId, datasource }: Account,
  { status, description, at }: { readonly status: string; readonly description: string; readonly at: Date },
): object {
  return {
    user_id: userId,
    account_id: id,
    datasource_id: datasource.id,
    screen: "credentials",
    duration: 12,
    tracking_id: `${id}-${at.getTime()}`,
    device_type: "desktop",
    connection_status: status,
    status_description: description,
    timestamp: formatNanoseconds(at),
    auth_method: "password",
  };
}

/** Ids of an account; company accounts also have their company's. */
function accountIds({ id, userId, company, datasource }: Account) {
  return { account_id: id, user_id: userId, ...(company && { company_id: datasource.id }) };
}

function fetchedEndpoint(endpoint: string, { start, end }: Days) {
  return { endpoint, date_start: start, date_end: end, data_available: true };
}
