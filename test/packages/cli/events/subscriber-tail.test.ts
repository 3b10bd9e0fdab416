import { marshall } from "@aws-sdk/util-dynamodb";
import { describe, expect, test } from "vitest";
import { contentOf } from "../../../../adapters/dynamodb/documents.ts";
import type { IncomeEvent } from "../../../../domain/event/events.ts";
import { messageOfState } from "../../../../domain/message/message.ts";
import { applyEvent } from "../../../../domain/state/state.ts";
import {
  incomeOf,
  maskAttributes,
  messageLine,
  messagesOf,
} from "../../../../packages/cli/events/subscriber-tail.ts";
import { documentRead, receiptsOf } from "../../../domain/samples.ts";
import { payment } from "../../subscriber/income-documents.ts";

const source = "/income-events/prod";
const event: IncomeEvent = {
  id: "i".repeat(43),
  kind: "accounts",
  receivedAt: "2026-01-01T00:00:00.000Z",
  type: "account.connected",
  accountId: "a",
};
const state = applyEvent(undefined, event, 1);
const image = (item: object | undefined) => item && marshall(item, { removeUndefinedValues: true });
const origin = { source, documentsUrl: "https://reads.example/" };
const messages = (after: object | undefined, types?: readonly string[], before?: object) => {
  const dynamodb = { NewImage: image(after), OldImage: image(before) };
  return messagesOf({ dynamodb }, { name: "risk", ...(types && { types }) }, origin);
};

describe("what a subscriber is sent", () => {
  const item = { sk: "STATE", state };

  test("is made of a change as the relay makes it", () => {
    const message = state && messageOfState(state, source);
    expect(message).toBeDefined();
    expect(messages(item)).toEqual([message]);
  });

  test("is limited by its filter", () => {
    expect(messages(item, ["account.*"])).toHaveLength(1);
    expect(messages(item, ["user.*", "data.updated"])).toEqual([]);
  });

  test("is empty if a write changed no version, for other items, and for expiries", () => {
    expect(messages(item, undefined, item)).toEqual([]);
    expect(messages({ sk: `EVENT#${event.id}`, event, receipts: receiptsOf() })).toEqual([]);
    for (const sk of ["ACCOUNT#a", "TOMBSTONE", "BREAKER", "WINDOW#1"]) expect(messages({ sk })).toEqual([]);
    expect(messages(undefined, undefined, item)).toEqual([]);
  });

  test("is one line for people, which hides attributes unless they are revealed", () => {
    const [message = expect.unreachable("no message")] = messages(item);
    expect(messageLine({ ...message, subject: "account/a\n\u001b[2J" })).toBe(
      `2026-01-01T00:00:00.000Z  account.connected             account/a [2J  ${event.id}`,
    );
    const named = { ...message, data: { ...message.data, attributes: { loanId: "loan-7" } } };
    expect(messageLine(named)).toContain(`${event.id}  {"loanId":"loan-7"}`);
    expect(messageLine(maskAttributes(named))).toContain(`${event.id}  {"loanId":"(text)"}`);
    expect(maskAttributes(message)).toBe(message);
  });

  const paid = (facts: object = {}) =>
    JSON.stringify({ data: [payment("1"), payment("2", { net: "1.50" }), payment("3", facts)] });
  test.each([
    [
      "each month of an income document",
      paid({ paid_at: "2026-12-01 00:00:00" }),
      ["2026-11 81.50 USD", "2026-12 80.00 USD"],
    ],
    ["no income of a document with another shape", paid({ net: 1 }), undefined],
    ["no income of what is not JSON", "<html>", undefined],
  ])("has the net income of %s", async (_, text, expected) => {
    const content = contentOf(text);
    const document = documentRead(undefined, content.digest, { asOf: 1 });
    const stored = { ...document, codec: "identity", content: Buffer.from(text) };
    const NewImage = image({ pk: "ACCOUNT#a", sk: "DOCUMENT#income", document: stored });
    const record = { dynamodb: { NewImage } };
    const [message = expect.unreachable("no message")] = messagesOf(record, { name: "risk" }, origin);
    const get = () => Promise.reject(new Error("the data is in the item"));
    const income = await incomeOf(record, message, { get });
    expect(income?.map(({ month, net, currency }) => `${month} ${net} ${currency}`)).toEqual(expected);
    expect(messageLine(message, income).endsWith(["", ...(expected ?? [])].join("  "))).toBe(true);
  });
});
