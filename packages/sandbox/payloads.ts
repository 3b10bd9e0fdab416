import type { Account, User } from "./accounts.ts";
import { formatTimestamp } from "./timestamps.ts";

/**
 * Payloads of events, which the specification does not show: their shapes are those of a public provider of the same
 * kind. None but an endpoint event's `request_id` distinguishes one event from another, and none has a time of its own.
 */
export type AccountEvent =
  | "create_account"
  | "update_account"
  | "connect_account"
  | "disconnect_account"
  | "delete_account";

export function userPayload(
  action: "create_user" | "delete_user",
  user: User,
  accountsNumber: number,
  link: string,
): object {
  return {
    action,
    data: {
      id: user.id,
      created_at: formatTimestamp(user.createdAt),
      accounts_number: accountsNumber,
      link,
      session: user.session,
      session_expires_at: formatTimestamp(user.sessionExpiresAt),
    },
  };
}

export function accountPayload(event: AccountEvent, account: Account): object {
  return {
    event,
    [account.company ? "company_account_id" : "account_id"]: account.id,
    user_id: account.userId,
    datasource_id: account.datasource.id,
    connected: account.connected,
    created_at: formatTimestamp(account.createdAt),
  };
}

export function endpointPayload(
  account: Account,
  endpoint: string,
  requestId: string,
  range: { readonly start: string; readonly end: string },
): object {
  return {
    event: "update_endpoint",
    request_id: requestId,
    account_id: account.id,
    user_id: account.userId,
    endpoint,
    date_start: range.start,
    date_end: range.end,
    data_available: true,
  };
}
