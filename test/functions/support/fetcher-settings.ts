import type { ProviderSettings } from "../../../domain/fetch/provider-settings.ts";

export const provider: ProviderSettings = {
  paths: {
    read: "/accounts/{account_id}/{endpoint}",
    readCompany: "/company/{account_id}/{endpoint}",
    account: "/accounts/{account_id}",
    companyAccount: "/company/{account_id}",
    user: "/users/{user_id}",
    users: "/users",
    refresh: "/refresh",
  },
  requestsPerMinute: 1_000,
  breaker: { failures: 100, baseSeconds: 10, maxSeconds: 300 },
  timeouts: { connectSeconds: 1, headersSeconds: 5, bodySeconds: 5 },
  maxResponseBytes: 1_000_000,
  maxDataBytes: 2_000_000,
  paging: { by: "cursor", items: "data", next: "next", parameter: "cursor", maxPages: 10 },
  allowPrivateAddresses: true,
};

export const started: ProviderSettings = {
  ...provider,
  paths: {
    ...provider.paths,
    start: { method: "POST", path: "/accounts/{account_id}/fetches", body: { endpoints: "{endpoints}" } },
  },
};
