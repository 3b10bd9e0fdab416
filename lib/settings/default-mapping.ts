import type { WebhookKind } from "../../domain/event/events.ts";
import type { KindMapping } from "../../domain/event/mapping.ts";

// Trap: `a || b` returns b if a is false, and the evaluator's not_null() loses a false as well.
// A projection drops only nulls.
const connected = "[connected, data.connected][*] | [0]";
const dataAvailable = "[data_available, data.data_available][*] | [0]";

// Events of the connection flow have no name. It is derived from the fields that only they have, and `types` maps it.
const type = "action || event || ((screen || tracking_id || connection_status) && 'connect_flow')";
const connectFlow = { connect_flow: "ignore" } as const;
const userId = "user_id || data.user_id";
const accountId = "account_id || data.account_id || data.id";
// With interface 0.5, endpoint events name a company account like any other account, and the company separately.
const company = "(company_id || data.company_id)";
const endpointAccountId = "(account_id || data.account_id)";
const datasourceId = "datasource_id || data.datasource_id";

/**
 * For `update_multi_endpoint`: each endpoint, an object or a name, merged with the webhook's common fields. Finds
 * nothing if the list is empty and the webhook names one endpoint itself.
 */
const endpoints =
  "{list: merge_each(merge_each([endpoints, data.endpoints][*] | [0], data), @), one: endpoint || data.endpoint}" +
  " | ((list || !one) && [list] || `[]`) | [0]";

/**
 * Mapping for payloads as a public provider of this shape documents them: fields at the top level or under `data`.
 * A stage's settings can replace any part. The documentation shows neither of these:
 * - `eventId`, except an endpoint event's `request_id`. It names a fetch, possibly of several endpoints, so it only
 *   marks the same bytes as a retry; the digest of the whole body remains the identity;
 * - `time`: `created_at` may be the account's.
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
    // A name in the list becomes `element`, beside the fields of the webhook.
    endpoint: "element || endpoint || data.endpoint",
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
