import { expect, it } from "vitest";
import type { AccountReadiness } from "../../../../domain/readiness/stored-readiness.ts";
import type { SubjectRecord } from "../../../../packages/cli/records/record-lookup.ts";
import { recordData, recordText } from "../../../../packages/cli/records/record-view.ts";

const subject = { kind: "account", id: "a" } as const;
const [since, deadline] = [0, 3_600_000];
const waiting: AccountReadiness = {
  ...{ subject, version: 2, stateVersion: 1, isConnected: true, isConfirmed: true, since, deadline },
  ...{ endpoints: ["income"], readings: {} },
};
const missing = [{ endpoint: "income", reason: "none" }] as const;
const announced = { version: 2, since, at: deadline, documents: [], missing };
const recordOf = (more: Partial<SubjectRecord>): SubjectRecord => {
  return { subject, accounts: [], documents: [], ...more };
};

it.each<[string, AccountReadiness]>([
  ["waiting, connected since 1970-01-01T00:00:00.000Z, deadline 1970-01-01T01:00:00.000Z", waiting],
  [
    "incomplete, connected since 1970-01-01T00:00:00.000Z, missing income (none)",
    { ...waiting, announced: { ...announced, status: "incomplete" } },
  ],
  [
    "ready, connected since 1970-01-01T00:00:00.000Z",
    { ...waiting, announced: { ...announced, status: "ready", missing: [] } },
  ],
  ["ended, connected since 1970-01-01T00:00:00.000Z", { ...waiting, isConnected: false }],
])("shows an account's readiness: %s", (text, readiness) => {
  expect(recordText(recordOf({ readiness }), [])).toContain(`readiness: ${text}`);
});

it("shows why an account is incomplete, and the accounts that a user.ready lists, to programs too", () => {
  const stale = { version: 3, since: deadline, at: deadline };
  const readiness = { ...waiting, announced: { ...announced, status: "incomplete" as const }, stale };
  expect(recordData(recordOf({ readiness }))).toMatchObject({
    readiness: { status: "incomplete", missing, noNewDataSince: "1970-01-01T01:00:00.000Z" },
  });
  const readyAccounts = [{ accountId: "a", status: "ready", since }] as const;
  expect(recordText(recordOf({ readyAccounts }), [])).toContain("ready: a (ready)");
  expect(recordData(recordOf({ readyAccounts }))).toMatchObject({
    readiness: {
      accounts: [{ accountId: "a", status: "ready", connectedSince: "1970-01-01T00:00:00.000Z" }],
    },
  });
});
