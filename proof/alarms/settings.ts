import compressed from "../../stages/compressed.json" with { type: "json" };

/**
 * The stage `compressed`, with days of nine seconds and small limits: what an alarm waits for in hours is run through
 * in seconds. The limits that alarms derive from time-outs and rates follow by themselves.
 */
export const alarmSettings = {
  provider: {
    ...compressed.provider,
    paths: { ...compressed.provider.paths, userAccounts: "/api/v0.4/users/{user_id}/accounts" },
    requestsPerMinute: 60,
  },
  divideDurationsBy: 10_000,
  accountConcurrency: 200,
  subscribers: [
    { name: "reader", retentionDays: 1 },
    {
      name: "limited",
      retentionDays: 1,
      types: ["company-account.deleted"],
      principals: ["arn:aws:iam::000000000000:role/limited"],
    },
  ],
  webhooks: { throttle: { requestsPerSecond: 1, burst: 50 } },
  functions: {
    receive: { reservedConcurrency: 1 },
    store: { timeoutSeconds: 5 },
    fetch: { timeoutSeconds: 10 },
    relay: { timeoutSeconds: 4 },
    erase: { timeoutSeconds: 5 },
    archive: { timeoutSeconds: 10 },
  },
  relay: { retryAttempts: 2 },
  fetch: { maxConcurrency: 2, longestOutageHours: 240 },
  readiness: { endpoints: ["income"] },
  reconcile: { everyHours: 1, maxDeletions: { percent: 5, atLeast: 2 } },
  archive: { beforeEndHours: 336 },
  alarms: {
    nothingReceivedHours: 1,
    refusedPerHour: 20,
    reconciliationDrift: 3,
    emails: ["on-call@example.com"],
  },
};
