import { expect, it } from "vitest";
import { consequencesOf, type DeriveSettings } from "../../../domain/message/consequences.ts";
import { isWaitedFor, parseAwaited, parseReadinessSettings } from "../../../domain/readiness/readiness.ts";
import {
  type AccountReadiness,
  type Announcement,
  missingReasons,
  parseAccountReadiness,
  parseUserReadiness,
  readDeadline,
  type UserReadiness,
  writeDeadline,
} from "../../../domain/readiness/stored-readiness.ts";
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

const read = { asOf: 5, digest: "d", announced: 4, days: 31 };
const announced: Announcement = {
  ...{ status: "incomplete", version: 2, since: 1, at: 3 },
  documents: [{ endpoint: "income", digest: "d", announced: 4 }],
  missing: missingReasons.map((reason) => ({ endpoint: "trips", reason })),
};
const { announced: _, stale: __, userId: ___, ...waiting } = account;

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

it("says which documents decided it, what is missing, and which accounts a user has", () => {
  const after = { ...account, announced, correlationId: "c" };
  const [incomplete] = publishedBy({ ...ofAccount, after });
  expect(incomplete).toMatchObject({ subject: "account/a/readiness", correlationid: "c" });
  expect(incomplete).toMatchObject({ time: "1970-01-01T00:00:00.003Z", sequence: "00000000000000000002" });
  const href = "https://reads.example/v1/accounts/a/documents/income?version=4";
  expect(incomplete?.data).toEqual({
    ...{ accountId: "a", userId: "u", connectedSince: "1970-01-01T00:00:00.001Z" },
    documents: [{ endpoint: "income", href, version: "4", sha256: "d" }],
    missing: announced.missing,
  });
  const [ready] = publishedBy(ofUser);
  expect(ready).toMatchObject({ subject: "user/u/readiness", time: minute(10) });
  const connectedSince = "1970-01-01T00:00:00.001Z";
  expect(ready?.data).toEqual({
    userId: "u",
    accounts: ["a", "b"].map((accountId) => ({ accountId, status: "ready", connectedSince })),
  });
});

it.each([
  ["if it has had any since its connection", at(5), { newestAt: minute(5) }],
  ["not if it has had none", at(4), {}],
])("says when a stale account had its newest data, %s", (_, since, newest) => {
  const stale = { version: 3, since, at: at(20) };
  const message = publishedBy({ ...ofAccount, after: { ...account, since: at(4), stale } }).at(-1);
  expect(message?.data).toEqual({ accountId: "a", userId: "u", connectedSince: minute(4), ...newest });
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

it.each<[string, Partial<AccountReadiness> | undefined, Partial<AccountReadiness>, boolean]>([
  ["that begins", undefined, {}, true],
  ["that goes on", {}, {}, false],
  ["that follows another", { since: 0 }, {}, true],
  ["that has ended", { since: 0 }, { isConnected: false }, false],
  ["that is ready at once", undefined, { announced: { ...announced, status: "ready" } }, false],
])("waits for its deadline in a connection %s, or not", (_, before, after, isWaiting) => {
  const change: Change = {
    ...{ type: "readiness", after: { ...waiting, correlationId: "c", ...after } },
    before: before && { ...waiting, ...before },
  };
  const deadline = { subject: account.subject, since: 1, correlationId: "c" };
  expect(consequencesOf(change, settings).filter(({ type }) => type === "endWait")).toEqual(
    isWaiting ? [{ type: "endWait", deadline }] : [],
  );
});

it("is not replayed if nothing was announced", () => {
  const { announced: _, stale: __, ...silent } = account;
  expect(replayRecord({ ...ofAccount, after: silent }, origin)).toEqual([]);
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

const stored: AccountReadiness = {
  ...account,
  ...{ minDays: 30, readings: { income: read, trips: { asOf: 5 } }, announced, correlationId: "c" },
};

it.each([stored, waiting, { ...waiting, isConnected: false, isConfirmed: false }])(
  "is read as it was stored: an account's",
  (each) => expect(parseAccountReadiness(JSON.parse(JSON.stringify(each)))).toEqual(each),
);

it.each([user, { ...user, accounts: [], correlationId: "c" }])(
  "is read as it was stored: a user's",
  (each) => {
    expect(parseUserReadiness(JSON.parse(JSON.stringify(each)))).toEqual(each);
  },
);

const withAnnounced = (fault: object) => ({ announced: { ...announced, ...fault } });
it.each<[string, object]>([
  ["subject", { subject: "a" }],
  ...["version", "stateVersion", "since", "deadline", "endpoints", "readings", "minDays"].map(
    (field): [string, object] => [field, { [field]: null }],
  ),
  ["reading", { readings: { income: 5 } }],
  ...["asOf", "announced", "days"].map((field): [string, object] => [
    field,
    { readings: { income: { ...read, [field]: "5" } } },
  ]),
  ["status", withAnnounced({ status: "done" })],
  ["documents", withAnnounced({ documents: {} })],
  ["documents", withAnnounced({ documents: ["income"] })],
  ["digest", withAnnounced({ documents: [{ endpoint: "income", announced: 4 }] })],
  ["missing", withAnnounced({ missing: undefined })],
  ["reason", withAnnounced({ missing: [{ endpoint: "income", reason: "late" }] })],
  ["endpoint", withAnnounced({ missing: [{ reason: "none" }] })],
  ["at", { stale: { version: 1, since: 1 } }],
])("is refused by the invalid field of an account: %s", (field, fault) => {
  expect(() => parseAccountReadiness({ ...stored, ...fault })).toThrow(`${field}: expected`);
});

it.each<[string, object]>([
  ["accounts", { accounts: {} }],
  ["accountId", { accounts: [{ status: "ready", since: 1 }] }],
  ["status", { accounts: [{ accountId: "a", status: "waiting", since: 1 }] }],
  ["since", { accounts: [{ accountId: "a", status: "ready" }] }],
  ["at", { at: "1" }],
])("is refused by the invalid field of a user: %s", (field, fault) => {
  expect(() => parseUserReadiness({ ...user, ...fault })).toThrow(`${field}: expected`);
});

it("has a deadline that is read as it was written, and refused by the invalid field", () => {
  const deadline = { subject: account.subject, since: 1 };
  for (const each of [deadline, { ...deadline, correlationId: "c" }])
    expect(readDeadline(writeDeadline(each))).toEqual(each);
  for (const [field, fault] of [
    ["subject.kind", { subject: user.subject }],
    ["since", { since: "1" }],
    ["schemaVersion", { schemaVersion: 0 }],
  ] as const)
    expect(() => readDeadline(JSON.stringify({ schemaVersion: 1, ...deadline, ...fault }))).toThrow(
      `${field}: expected`,
    );
  expect(() => readDeadline("no JSON")).toThrow("the deadline is not JSON");
});

it("has settings that are read as they are written, or none", () => {
  const least = { endpoints: ["income"], deadlineSeconds: 60 };
  for (const each of [least, { ...least, minDays: 90, users: "any" }, undefined])
    expect(parseReadinessSettings(each)).toEqual(each);
  expect(parseReadinessSettings({ ...least, users: "some" })).toEqual(least);
  expect(parseAwaited({ ...least, minDays: 90 })).toEqual({ endpoints: ["income"], minDays: 90 });
  expect(parseAwaited(undefined)).toBeUndefined();
  expect(() => parseAwaited([])).toThrow("readiness: expected an object");
  expect(() => parseReadinessSettings({ endpoints: [] })).toThrow("deadlineSeconds: expected a number");
});

it.each([
  ["that still waits", {}, 1, true],
  ["that was replaced by a newer one", { since: 2 }, 1, false],
  ["that is ready", { announced: { ...announced, status: "ready" } }, 1, false],
  ["that has ended", { isConnected: false }, 1, false],
] as const)("is waited for by a connection %s, or not", (_, change, since, isWaited) => {
  expect(isWaitedFor({ ...waiting, ...change }, since)).toBe(isWaited);
});
