import { expect, it } from "vitest";
import { consequencesOf, type DeriveSettings } from "../../../domain/message/consequences.ts";
import type { AccountReadiness, UserReadiness } from "../../../domain/readiness/stored-readiness.ts";
import { eraseTaskForLateData } from "../../../domain/recovery/erasure.ts";
import { needsRepair, repairsOfReadiness, repairsOfUserReadiness } from "../../../domain/recovery/repair.ts";
import type { Change } from "../../../domain/state/change.ts";
import { replayRecord } from "../../../domain/state/replay.ts";
import { minute } from "../samples.ts";

const origin = { source: "/income-events/test", documentsUrl: "https://reads.example/" };
const readiness = { endpoints: ["income"], deadlineSeconds: 60 };
const settings: DeriveSettings = { ...origin, readByRange: [], readiness };
const at = (value: number) => Date.parse(minute(value));

const account: AccountReadiness = {
  ...{ subject: { kind: "account", id: "a" }, userId: "u", version: 3, stateVersion: 1 },
  ...{ isConnected: true, isConfirmed: true, since: 1, deadline: 2, endpoints: ["income"], readings: {} },
  announced: { status: "ready", version: 2, since: 1, at: at(10), documents: [], missing: [] },
  stale: { version: 3, since: 1, at: at(20) },
};
const listed = (accountId: string) => ({ accountId, status: "ready", since: 1 }) as const;
const user: UserReadiness = {
  ...{ subject: { kind: "user", id: "u" }, version: 4, at: at(10) },
  accounts: [listed("a"), listed("b")],
};
const ofAccount = { type: "readiness", before: undefined, after: account } as const;
const ofUser = { type: "userReadiness", before: undefined, after: user } as const;

const publishedBy = (change: Change, given = settings) =>
  consequencesOf(change, given).flatMap((each) => (each.type === "publish" ? [each.message] : []));
const followed = (change: Change, given = settings) =>
  consequencesOf(change, given).filter(({ type }) => type === "followAccounts");

it("is announced, repaired and replayed with the same messages", () => {
  const messages = [...publishedBy(ofAccount), ...publishedBy(ofUser)];
  expect(messages.map(({ type, id }) => [type, id])).toEqual([
    ["account.ready", "account/a/readiness.2"],
    ["account.stale", "account/a/readiness.3"],
    ["user.ready", "user/u/readiness.4"],
  ]);
  const repairs = [...repairsOfReadiness(account), ...repairsOfUserReadiness(user)];
  expect(repairs.flatMap((change) => publishedBy(change))).toEqual(messages);
  const replayed = [ofAccount, ofUser].flatMap((change) => replayRecord(change, origin));
  expect(replayed.map(({ message }) => message)).toEqual(messages);
});

it("is announced by the version that announces it alone", () => {
  expect(publishedBy({ ...ofAccount, before: { ...account, version: 2 } })).toEqual([]);
  expect(publishedBy({ ...ofUser, before: user })).toEqual([]);
  expect(followed({ ...ofUser, before: user })).toEqual([]);
});

it("is not announced for a user without accounts, such as after their erasure", () => {
  const after = { ...user, accounts: [] };
  expect(publishedBy({ ...ofUser, after })).toEqual([]);
  expect(replayRecord({ ...ofUser, after }, origin)).toEqual([]);
});

it("asks for the user's accounts after an account and after the user, unless the stage has no readiness", () => {
  for (const change of [ofAccount, ofUser]) {
    expect(followed(change)).toMatchObject([{ userId: "u" }]);
    expect(followed(change, { ...settings, readiness: undefined })).toEqual([]);
  }
});

it.each([
  [9, 10, false, false],
  [10, 11, true, true],
  [20, 21, true, false],
  [21, 30, false, false],
])("is repaired from minute %i to %i: account %s, user %s", (since, until, isAccount, isUser) => {
  const period = { since: minute(since), until: minute(until) };
  expect([needsRepair(ofAccount, period), needsRepair(ofUser, period)]).toEqual([isAccount, isUser]);
});

it.each([
  ["user/u", { kind: "user", id: "u" }],
  ["account/b", { kind: "account", id: "b" }],
])("is erased if it names %s, who is erased", (name, subject) => {
  expect(eraseTaskForLateData(ofUser, new Set([name]))).toMatchObject({ subject, cause: "arrived late" });
  expect(eraseTaskForLateData(ofUser, new Set(["account/c"]))).toBeUndefined();
});
