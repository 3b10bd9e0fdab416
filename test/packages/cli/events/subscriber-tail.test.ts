import { marshall } from "@aws-sdk/util-dynamodb";
import { describe, expect, test } from "vitest";
import type { IncomeEvent } from "../../../../domain/event/events.ts";
import { messageOfState } from "../../../../domain/message/message.ts";
import { applyEvent } from "../../../../domain/state/state.ts";
import { messageLine, messagesOf } from "../../../../packages/cli/events/subscriber-tail.ts";
import { receiptsOf } from "../../../domain/samples.ts";

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
const messages = (after: object | undefined, types?: readonly string[], before?: object) =>
  messagesOf(
    { dynamodb: { NewImage: image(after), OldImage: image(before) } },
    types === undefined ? { name: "risk" } : { name: "risk", types },
    { source, documentsUrl: "https://reads.example/" },
  );

describe("what a subscriber is sent", () => {
  const item = { sk: "STATE", state };

  test("is made of a change as the relay makes it", () => {
    const message = state && messageOfState(state, source);
    expect(message).toBeDefined();
    expect(messages(item)).toEqual([message]);
  });

  test("is what its filter takes", () => {
    expect(messages(item, ["account.*"])).toHaveLength(1);
    expect(messages(item, ["user.*", "data.updated"])).toEqual([]);
  });

  test("is nothing where a write changed no version, of other items, and of what expires", () => {
    expect(messages(item, undefined, item)).toEqual([]);
    expect(messages({ sk: `EVENT#${event.id}`, event, receipts: receiptsOf() })).toEqual([]);
    for (const sk of ["ACCOUNT#a", "TOMBSTONE", "BREAKER", "WINDOW#1"]) expect(messages({ sk })).toEqual([]);
    expect(messages(undefined, undefined, item)).toEqual([]);
  });

  test("is one line for people", () => {
    const [message] = messages(item);
    if (message === undefined) throw new Error("no message");
    expect(messageLine({ ...message, subject: "account/a\n\u001b[2J" })).toBe(
      `2026-01-01T00:00:00.000Z  account.connected             account/a [2J  ${event.id}`,
    );
  });
});
