import { expect, it } from "vitest";
import { findUnready, type ReadinessEvidence } from "../../../proof/chaos/audit/find-unready.ts";

const since = new Date(10).toISOString();
const state = {
  ...{ pk: "ACCOUNT#a", sk: "STATE" },
  state: { connected: true, deleted: false, unconfirmed: false, connection: { since: 10 } },
};
const announced = { status: "ready", version: 2, since: 10 };
const account = {
  ...{ pk: "ACCOUNT#a", sk: "READINESS" },
  readiness: {
    ...{ userId: "u", isConnected: true, isConfirmed: true, since: 10 },
    announced,
  },
};
const listed = { accountId: "a", status: "ready" };
const user = {
  ...{ pk: "USER#u", sk: "READINESS" },
  readiness: { version: 1, accounts: [{ ...listed, since: 10 }] },
};
const ready = {
  ...{ type: "account.ready", id: "account/a/readiness.2", sequence: "2" },
  data: { userId: "u", accountId: "a", connectedSince: since, documents: [{ endpoint: "profile" }] },
};
const numbered = (message: typeof ready, number: number) => ({
  ...message,
  id: `${message.id.split(".")[0]}.${number}`,
});
const withData = (message: typeof ready, data: object) => ({
  ...message,
  data: { ...message.data, ...data },
});
const later = new Date(11).toISOString();
const incomplete = numbered({ ...ready, type: "account.incomplete", sequence: "3" }, 3);
const stale = numbered({ ...ready, type: "account.stale", sequence: "4" }, 4);
const userReady = {
  ...{ type: "user.ready", id: "user/u/readiness.1", sequence: "1" },
  data: { userId: "u", accounts: [{ ...listed, connectedSince: since }] },
};
const accountWith = (readiness: object) => ({
  ...account,
  readiness: { ...account.readiness, ...readiness },
});
const stayedIncomplete = { ...announced, status: "incomplete" };
const lacking = accountWith({ userId: undefined, announced: { ...stayedIncomplete, version: 3 } });
const unconnected = { ...state, state: { ...state.state, connection: undefined } };
const all = [state, account, user];
const early = "account/a/readiness.2 came before profile was read";
const notReady = "ACCOUNT#a is not ready";
const missing = "user.ready of u is missing";
const read = { target: "/accounts/a/profile?page=1", sentAt: 15 };

type Case = readonly [
  name: string,
  evidence: Partial<Omit<ReadinessEvidence, "messages">> & { readonly messages?: readonly object[] },
  expected: readonly string[],
];

it.each<Case>([
  ["nothing where each announcement came once", { items: all, messages: [ready, ready, userReady] }, []],
  ["a missing message", { items: all, messages: [ready] }, ["the message user/u/readiness.1 is missing"]],
  ["an account that still waits", { items: [state, accountWith({ announced: undefined })] }, [notReady]],
  [
    "an account that stays incomplete",
    { items: [state, accountWith({ announced: stayedIncomplete })], messages: [ready] },
    [notReady, missing],
  ],
  ["an account without readiness", { items: [state] }, [notReady]],
  ["a connected account whose state has no connection", { items: [unconnected] }, [notReady]],
  ["a missing announcement of a user", { items: [state, account], messages: [ready] }, [missing]],
  [
    "an account announced twice",
    { messages: [ready, numbered(ready, 3)] },
    [`a ${since} was announced as account.ready, account.ready`],
  ],
  ["an account ready after it was incomplete", { messages: [{ ...incomplete, sequence: "1" }, ready] }, []],
  [
    "an account incomplete after it was ready",
    { messages: [ready, incomplete] },
    [`a ${since} was announced as account.ready, account.incomplete`],
  ],
  [
    "an account incomplete before its deadline",
    { messages: [withData(incomplete, { connectedSince: later })] },
    ["account/a/readiness.3 came before the deadline"],
  ],
  [
    "an account that stays incomplete without a document",
    { items: [state, lacking], lacking: new Set(["a"]), messages: [incomplete] },
    [],
  ],
  [
    "an account stale twice, or too early",
    { messages: [stale, numbered(stale, 5), numbered(withData(stale, { newestAt: later }), 6)] },
    ["account/a/readiness.6 came while data was new", `a ${since} was announced as stale 2 times`],
  ],
  [
    "a user announced twice",
    { messages: [ready, userReady, { ...userReady, id: "user/u/readiness.2", sequence: "2" }] },
    ["user/u/readiness.2 repeats the announcement before it"],
  ],
  ["an account ready without its document", { messages: [withData(ready, { documents: [] })] }, [early]],
  ["a document read before the connection", { messages: [ready], reads: [{ ...read, sentAt: 9 }] }, [early]],
  ["a document read after the message", { messages: [ready], reads: [{ ...read, sentAt: 21 }] }, [early]],
  [
    "a document read for another account",
    { messages: [ready], reads: [{ ...read, target: "/accounts/b/profile" }] },
    [early],
  ],
  [
    "a user announced before an account",
    { messages: [userReady] },
    [`user/u/readiness.1 came before account.ready a ${since}`],
  ],
  ["no announcement of an erased account", { messages: [userReady], erased: new Set(["a"]) }, []],
])("finds %s", (_, { messages = [], ...evidence }, expected) => {
  const lines = messages.map((each) => ({ subscriber: "everything", at: 20, body: JSON.stringify(each) }));
  const times = { deadlineMillis: 10, staleMillis: 10 };
  const known = { ...times, endpoints: ["profile"], items: [], reads: [read], erased: new Set<string>() };
  expect(findUnready({ ...known, ...evidence, messages: lines })).toEqual(expected);
});
