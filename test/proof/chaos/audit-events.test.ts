import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { account, type Evidence } from "../../../proof/chaos/audit/audit-events.ts";

const nothing: Evidence = {
  sent: [],
  records: [],
  messages: [],
  stored: new Set(),
  deadLetters: new Set(),
  erased: new Set(),
  losses: [],
  findings: [],
};
const call = (id: string, status: number | undefined, subjects: readonly string[] = []) => ({
  kind: "users",
  id,
  subjects,
  ...(status === undefined ? {} : { status }),
});
const insert = (id: string, key = `USER#${id} EVENT#${id}`) => ({
  change: "INSERT",
  key,
  id,
  content: "one",
});
const body = (fields: object) =>
  JSON.stringify({ id: "m1", source: "s", subject: "users/1", sequence: "1", ...fields });
const message = (fields: object) => ({ subscriber: "everything", at: 1, body: body(fields) });

describe("the account of a run", () => {
  it("gives every distinct event one fate, however often it was sent", () => {
    const sent = [
      call("a", 500),
      call("a", 202),
      call("b", 202),
      call("c", 401),
      call("d", 202),
      call("e", undefined),
    ];
    const result = account({ ...nothing, sent, stored: new Set(["a"]), deadLetters: new Set(["b"]) });
    expect(result).toMatchObject({ sent: 5, stored: 1, deadlettered: 1, refused: 1, lost: 2, duplicated: 0 });
    expect([...result.lostEvents.keys()]).toEqual(["d", "e"]);
    expect(result.unaccounted).toEqual([]);
  });

  it("counts events that the provider gave up as refused, unless their effect is missing", () => {
    const sent = ["a", "b", "c"].flatMap((id) =>
      Array.from({ length: 3 }, () => call(id, 503, [`user-${id}`])),
    );
    const evidence = { ...nothing, sent: sent.slice(0, -1), losses: ["user user-b is missing"] };
    const result = account({ ...evidence, tries: 3 });
    expect(result).toMatchObject({ sent: 3, refused: 1, lost: 2, unaccounted: [] });
    expect([...result.lostEvents.keys()]).toEqual(["b", "c"]);
    expect(account(evidence)).toMatchObject({ refused: 0, lost: 3 });
  });

  it("closes for whatever was sent, answered, stored and put aside", () => {
    const id = fc.constantFrom("a", "b", "c", "d", "e");
    const calls = fc.array(fc.tuple(id, fc.constantFrom(202, 401, 503, undefined)));
    fc.assert(
      fc.property(calls, fc.uniqueArray(id), fc.uniqueArray(id), (answers, stored, deadLetters) => {
        const sent = answers.map(([event, status]) => call(event, status));
        const result = account({
          ...nothing,
          sent,
          stored: new Set(stored),
          deadLetters: new Set(deadLetters),
        });
        const { stored: kept, deadlettered, refused, lost } = result;
        expect(kept + deadlettered + refused + lost).toBe(result.sent);
        expect(result.sent).toBe(new Set(answers.map(([event]) => event)).size);
      }),
    );
  });

  it("does not close with an event that nobody sent, or that was refused and is there", () => {
    const sent = [call("a", 401), call("b", 403)];
    const stored = new Set(["a", "stranger"]);
    const deadLetters = new Set(["b", "letter"]);
    expect(account({ ...nothing, sent, stored, deadLetters }).unaccounted).toEqual([
      "stranger is stored and nobody sent it",
      "letter is a dead letter and nobody sent it",
      "a was refused and is there",
      "b was refused and is there",
    ]);
  });

  it("counts an event without its effect as lost, and does not close if none explains a loss", () => {
    const sent = [call("event-1", 202, ["user-1"]), call("event-2", 202, ["user-2"])];
    const losses = ["user user-1 is missing", "document x/y is missing"];
    const result = account({ ...nothing, sent, stored: new Set(["event-1", "event-2"]), losses });
    expect(result.lostEvents).toEqual(new Map([["event-1", "user user-1 is missing"]]));
    expect(result.unaccounted).toEqual(["document x/y is missing"]);
  });

  it("counts what was stored and then erased as stored", () => {
    const sent = [call("a", 202, ["user-1"]), call("b", 202, ["user-1"])];
    const result = account({ ...nothing, sent, records: [insert("a")], erased: new Set(["user-1"]) });
    expect(result).toMatchObject({ stored: 1, lost: 1 });
  });
});

const again = { ...insert("a"), change: "MODIFY" };
const known = { attributes: { loanId: "7" }, attributesSequence: "2" };
const first = message({ data: { userId: "u" } });

it.each<[string, number, Partial<Evidence>]>([
  ["counted receipts", 0, { records: [insert("a"), again, again] }],
  ["an event in a second record", 1, { records: [insert("a"), insert("a", "USER#other EVENT#a")] }],
  ["a record that is written over", 1, { records: [insert("a"), { ...again, content: "two" }] }],
  ["repeated messages", 0, { messages: [message({}), message({})] }],
  ["one id with two contents", 1, { messages: [message({}), message({ data: 1 })] }],
  ["two ids in one place of an order", 1, { messages: [message({}), message({ id: "m2" })] }],
  ["two subscribers", 0, { messages: [message({}), { ...message({ id: "m2" }), subscriber: "accounts" }] }],
  ["newer attributes", 0, { messages: [first, message({ data: { userId: "u", ...known } })] }],
  ["newer attributes and data", 1, { messages: [first, message({ data: { userId: "v", ...known } })] }],
  ["replays, of today's state", 0, { messages: [message({}), message({ replayid: "r", data: 1 })] }],
])("%s make %i duplicates", (_, expected, evidence) => {
  expect(account({ ...nothing, ...evidence }).duplicated).toBe(expected);
});
