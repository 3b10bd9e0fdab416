import { marshall } from "@aws-sdk/util-dynamodb";
import { describe, expect, it } from "vitest";
import { type Found, problemsOf } from "../../proof/restore-drill/assess.ts";

const at = Date.parse("2026-11-21T12:00:00Z");
const receipts = { count: 1, first: "m", last: "m", firstAt: at, since: at };
const facts = {
  id: "e",
  kind: "endpoints",
  type: "endpoint.updated",
  receivedAt: new Date(at).toISOString(),
  accountId: "a",
  endpoint: "income",
  dataAvailable: true,
};
/** What is stored of the account's income, as of so many seconds after its event. */
const documentAt = (seconds: number) => ({
  pk: "ACCOUNT#a",
  sk: "DOCUMENT#income",
  document: {
    subject: { kind: "account", id: "a" },
    endpoint: "income",
    asOf: at + seconds * 1_000,
    by: [],
    news: false,
  },
});
const stateOf = (id: string, version: number) => ({ pk: `USER#${id}`, sk: "STATE", state: { version } });

const state = stateOf("stays", 3);
const event = { pk: "USER#stays", sk: "EVENT#e", event: facts, receipts };
const fetched = documentAt(5);
const gone = stateOf("gone", 1);
const breaker = { pk: "PROVIDER", sk: "BREAKER" };
const came = stateOf("came", 1);

type Items = readonly Readonly<Record<string, unknown>>[];

function problems(
  after: Items,
  messages: readonly object[] = [{ type: "user.created", subject: "user/stays" }],
) {
  const found: Found = {
    before: [state, event, fetched, gone, breaker].map((item) => marshall(item)),
    after: after.map((item) => marshall(item)),
    erased: ["gone"],
    messages: messages.map((message) => JSON.stringify(message)),
    unannounced: ["came"],
  };
  return problemsOf(found);
}

const all: Items = [state, event, fetched, came];

describe("the drill of a restore", () => {
  it("passes where all is back but who was erased, and pacing", () => {
    expect(problems(all)).toEqual([]);
    const again = { ...event, receipts: { ...receipts, count: 2, last: "n", since: at + 60_000 } };
    expect(problems([stateOf("stays", 4), again, documentAt(90), came])).toEqual([]);
  });

  it.each<[string, Items]>([
    ["an erased user is back: USER#gone#STATE", [...all, gone]],
    ["an erased user is back: ACCOUNT#a#LINK", [...all, { pk: "ACCOUNT#a", sk: "LINK", of: "gone" }]],
    ["USER#stays#EVENT#e is missing", [state, fetched, came]],
    ["USER#stays#STATE started over: 1 after 3", [stateOf("stays", 1), event, fetched, came]],
    [
      `ACCOUNT#a#DOCUMENT#income started over: ${at + 4_000} after ${at + 5_000}`,
      [state, event, documentAt(4), came],
    ],
    [
      "USER#stays#EVENT#e is another event",
      [state, { ...event, event: { ...facts, id: "f" } }, fetched, came],
    ],
    [
      "what USER#stays#EVENT#e announced was not fetched again",
      [state, { ...event, receipts: { ...receipts, since: at + 60_000 } }, fetched, came],
    ],
    ["user came was not found again", [state, event, fetched]],
  ])("reports: %s", (problem, after) => {
    expect(problems(after)).toEqual([problem]);
  });

  it("reports messages about who was erased, unless they announce the erasure, and none at all", () => {
    expect(problems(all, [{ type: "user.created", subject: "user/gone" }])).toEqual([
      "a subscriber was sent an erased user",
    ]);
    expect(problems(all, [{ type: "user.erased", subject: "user/gone" }])).toEqual([]);
    expect(problems(all, [])).toEqual(["no subscriber was sent anything"]);
  });
});
