import { describe, expect, it } from "vitest";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import {
  countReceipts,
  type EventMessage,
  firstReceipts,
  mergeReceipts,
  parseReceipts,
  receiptKey,
  receiptsToProcess,
} from "../../../domain/event/receipts.ts";
import { eventOf } from "../samples.ts";

const weak = eventOf("endpoint.updated", { endpoint: "income" });
const strong = eventOf("endpoint.updated", { endpoint: "income", eventId: "request-1" });
const sent = (id: string, sentAt: number): EventMessage => ({ id, sentAt });
const first = sent("m1", 1_000);
const second = sent("m2", 2_000);
const third = sent("m3", 3_000);

describe("the receipts of a batch", () => {
  const merge = (...receipts: readonly (readonly [IncomeEvent, EventMessage])[]) =>
    mergeReceipts(receipts.map(([event, message]) => ({ event, message })));

  it("of the same event are merged into one, with its messages in the order in which they were sent", () => {
    expect(merge([weak, third], [strong, second], [weak, first])).toEqual([
      { receipt: { event: weak, message: first }, messages: [first, third] },
      { receipt: { event: strong, message: second }, messages: [second] },
    ]);
  });

  it("of messages sent at the same time are ordered by their ids, so that each run merges them equally", () => {
    const [one, other] = [sent("a", 1), sent("b", 1)];
    for (const batch of [
      [one, other],
      [other, one],
    ])
      expect(merge(...batch.map((message) => [weak, message] as const))[0]?.messages).toEqual([one, other]);
  });

  it("contain a message once that SQS delivered twice", () => {
    expect(merge([weak, first], [weak, first])[0]?.messages).toEqual([first]);
  });

  it("of events with the same bytes but different owners are kept apart", () => {
    expect(merge([weak, first], [{ ...weak, accountId: "other" }, second])).toHaveLength(2);
  });
});

describe("an event that is not stored yet", () => {
  it("with its own id counts once, from its first message: a repeat is a retry", () => {
    expect(firstReceipts(strong, { messages: [first, second] })).toEqual({
      count: 1,
      first: "m1",
      last: "m1",
      firstAt: 1_000,
      since: 1_000,
    });
  });

  it("with neither id nor time counts each message, from the last: each may be a true repeat", () => {
    expect(firstReceipts(weak, { messages: [first, second, third] })).toEqual({
      count: 3,
      first: "m1",
      last: "m3",
      firstAt: 1_000,
      since: 3_000,
    });
  });
});

describe("a repeated event", () => {
  const known = firstReceipts(weak, { messages: [first, second] });

  it("counts each further message, from the last of them", () => {
    const last = sent("m4", 4_000);
    expect(countReceipts(known, { messages: [third, last] })).toEqual({
      ...known,
      count: 4,
      last: "m4",
      since: 4_000,
    });
  });

  it.each([
    ["first", first],
    ["last", second],
  ])("counts nothing if SQS delivers its %s message again", (_, message) => {
    expect(countReceipts(known, { messages: [message] })).toBeUndefined();
  });

  it("counts only the new messages of a batch that repeats its last message", () => {
    expect(countReceipts(known, { messages: [second, third] })).toMatchObject({ count: 3, last: "m3" });
  });

  it("keeps its latest time if an earlier message arrives late", () => {
    expect(countReceipts(known, { messages: [sent("m0", 500)] })).toMatchObject({ since: 2_000, count: 3 });
  });
});

describe("the receipts to process", () => {
  it.each([
    ["the first", 0, 1, [1]],
    ["the first and the last if several came at once", 0, 3, [1, 3]],
    ["the last of the new ones", 1, 3, [3]],
    ["none if the count is unchanged", 2, 2, []],
  ])("are %s", (_, before, after, expected) => {
    expect(receiptsToProcess(before, after)).toEqual(expected);
  });
});

it("stored receipts are read as they were written, and refused by the invalid field", () => {
  const stored = firstReceipts(weak, { messages: [first, second] });
  expect(parseReceipts(JSON.parse(JSON.stringify(stored)))).toEqual(stored);
  for (const field of Object.keys(stored))
    expect(() => parseReceipts({ ...stored, [field]: null })).toThrow(`${field}: expected`);
  expect(() => parseReceipts(null)).toThrow("receipts: expected an object");
});

it("a processed receipt is remembered by 16 characters of its event's id, and its number", () => {
  expect(receiptKey(weak, 3)).toBe(`${weak.id.slice(0, 16)}.3`);
});
