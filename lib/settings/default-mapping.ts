import type { WebhookKind } from "../../domain/event/events.ts";
import type { KindMapping } from "../../domain/event/mapping.ts";

// A trap: `a || b` takes b where a is false, and not_null() of the evaluator in use loses a false as well.
// A projection drops nulls only.
const connected = "[connected, data.connected][*] | [0]";
const dataAvailable = "[data_available, data.data_available][*] | [0]";

// Events of the connection flow have no name: one is made of the fields that only they have, so that `types` decides.
const type = "action || event || ((screen || tracking_id || connection_status) && 'connect_flow')";
const connectFlow = { connect_flow: "ignore" } as const;
const userId = "user_id || data.user_id";
const accountId = "account_id || data.account_id || data.id";
// An endpoint's event of interface 0.5 names a company's account as any other, with the company beside it.
const company = "(company_id || data.company_id)";
const endpointAccountId = "(account_id || data.account_id)";
const datasourceId = "datasource_id || data.datasource_id";

/** Of `update_multi_endpoint`: each endpoint, an object or a name, with what the webhook says of all. */
const endpoints = "merge_each(merge_each([endpoints, data.endpoints][*] | [0], data), @)";

/**
 * Payloads as a public provider of this shape documents them: fields at the top level or under `data`. A
 * stage's settings replace any part. What is left out, and why:
 * - `eventId`: none is shown but an endpoint event's `request_id`. It names a fetch that may cover several
 *   endpoints; it says that the same bytes are a retry, and identity stays the digest of the whole body;
 * - `time`: none is shown, and `created_at` may well be the account's.
 */
export const defaultMapping: Readonly<Record<WebhookKind, KindMapping>> = {
  users: {
    type,
    types: {
      create_user: "user.created",
      update_user: "user.updated",
      delete_user: "user.deleted",
      ...connectFlow,
    },
    userId: `data.id || id || ${userId}`,
    ids: "uuid",
  },
  accounts: {
    type,
    types: {
      create_account: "account.created",
      update_account: "account.updated",
      connect_account: "account.connected",
      disconnect_account: "account.disconnected",
      delete_account: "account.deleted",
      ...connectFlow,
    },
    accountId,
    userId,
    datasourceId,
    connected,
    ids: "uuid",
  },
  endpoints: {
    type,
    types: { update_endpoint: "endpoint.updated", update_multi_endpoint: "endpoint.updated" },
    events: endpoints,
    accountId: `(!${company} && ${endpointAccountId}) || \`null\``,
    companyAccountId: `company_account_id || data.company_account_id || (${company} && ${endpointAccountId})`,
    userId,
    endpoint: "endpoint || data.endpoint || element",
    eventId: "request_id || data.request_id",
    dataAvailable,
    dateStart: "date_start || data.date_start",
    dateEnd: "date_end || data.date_end",
    ids: "uuid",
  },
  "company-accounts": {
    type,
    types: {
      create_account: "company-account.created",
      update_account: "company-account.updated",
      connect_account: "company-account.connected",
      disconnect_account: "company-account.disconnected",
      delete_account: "company-account.deleted",
      create_company_account: "company-account.created",
      update_company_account: "company-account.updated",
      connect_company_account: "company-account.connected",
      disconnect_company_account: "company-account.disconnected",
      delete_company_account: "company-account.deleted",
    },
    companyAccountId: `company_account_id || data.company_account_id || ${accountId} || company_id || data.company_id`,
    userId,
    datasourceId,
    connected,
    ids: "uuid",
  },
};
