import { marshall } from "@aws-sdk/util-dynamodb";
import { describe, expect, it } from "vitest";
import { type Found, problemsOf } from "../../proof/restore-drill/assess.ts";

const state = { pk: "USER#stays", sk: "STATE", version: 3 };
const event = { pk: "USER#stays", sk: "EVENT#e", event: { id: "e", type: "user.created" }, receipts: 2 };
const fetched = { pk: "ACCOUNT#a", sk: "DATA#income", version: 2, data: { wanted: 1, done: 1 } };
const gone = { pk: "USER#gone", sk: "STATE", version: 1 };
const claim = { pk: "ACCOUNT#a", sk: "CLAIM#income" };
const breaker = { pk: "PROVIDER", sk: "BREAKER" };
const came = { pk: "USER#came", sk: "STATE", version: 1 };

type Items = readonly Readonly<Record<string, unknown>>[];

function problems(
  after: Items,
  messages: readonly object[] = [{ type: "user.created", subject: "user/stays" }],
) {
  const found: Found = {
    before: [state, event, fetched, gone, claim, breaker].map((item) => marshall(item)),
    after: after.map((item) => marshall(item)),
    erased: ["gone"],
    messages: messages.map((message) => JSON.stringify(message)),
    unannounced: ["came"],
  };
  return problemsOf(found);
}

const all: Items = [state, event, fetched, came];

describe("the drill of a restore", () => {
  it("passes where all is back but who was erased, claims and pacing", () => {
    expect(problems(all)).toEqual([]);
    expect(problems([{ ...state, version: 4 }, { ...event, receipts: 1 }, fetched, came])).toEqual([]);
  });

  it.each<[string, Items]>([
    ["an erased user is back: USER#gone#STATE", [...all, gone]],
    ["an erased user is back: ACCOUNT#a#LINK", [...all, { pk: "ACCOUNT#a", sk: "LINK", of: "gone" }]],
    ["USER#stays#EVENT#e is missing", [state, fetched, came]],
    ["USER#stays#STATE started over: version 1 after 3", [{ ...state, version: 1 }, event, fetched, came]],
    ["USER#stays#EVENT#e is another event", [state, { ...event, event: { id: "f" } }, fetched, came]],
    [
      "ACCOUNT#a#DATA#income was not fetched again",
      [state, event, { ...fetched, data: { wanted: 2, done: 1 } }, came],
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
