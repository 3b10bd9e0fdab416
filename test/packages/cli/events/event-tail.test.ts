import { marshall } from "@aws-sdk/util-dynamodb";
import { describe, expect, it } from "vitest";
import type { IncomeEvent } from "../../../../domain/event/events.ts";
import { applyEvent } from "../../../../domain/state/state.ts";
import { happeningLine, happeningOf } from "../../../../packages/cli/events/event-tail.ts";
import { documentRead, receiptsOf } from "../../../domain/samples.ts";

const now = new Date("2026-01-01T00:00:01.000Z");
const event: IncomeEvent = {
  id: "i".repeat(43),
  kind: "accounts",
  receivedAt: "2026-01-01T00:00:00.000Z",
  type: "account.connected",
  accountId: "a",
};
const happening = (after: object | undefined, before?: object) => {
  const image = (item: object | undefined) => item && marshall(item, { removeUndefinedValues: true });
  return happeningOf({ dynamodb: { NewImage: image(after), OldImage: image(before) } }, now);
};

describe("a change of the table", () => {
  it("shows that an event came, and came again", () => {
    const item = { sk: `EVENT#${event.id}`, event, receipts: receiptsOf() };
    const reported = { at: now.toISOString(), subject: "account/a", type: "account.connected", id: event.id };
    expect(happening(item)).toEqual({ ...reported, what: "received" });
    expect(happening({ ...item, receipts: receiptsOf(2) }, item)).toEqual({
      ...reported,
      what: "received 2 times",
    });
  });

  it("shows how an event was processed", () => {
    const state = applyEvent(undefined, event, 1);
    expect(happening({ sk: "STATE", state })).toMatchObject({ what: "applied", version: 1, id: event.id });
    expect(happening({ sk: "STATE", state }, { sk: "STATE", state })).toBeUndefined();
  });

  it("shows that data was read, and whether it changed", () => {
    const first = documentRead(undefined, "digest", { asOf: 1, subject: { kind: "account", id: "a" } });
    const sk = "DOCUMENT#income";
    expect(happening({ sk, document: first })).toMatchObject({
      what: "data changed",
      subject: "account/a/income",
    });
    const again = documentRead(first, "digest", { asOf: 2, subject: { kind: "account", id: "a" } });
    expect(happening({ sk, document: again }, { sk, document: first })).toMatchObject({ what: "data read" });
  });

  it("shows nothing of other items, and of what expires", () => {
    for (const sk of ["ACCOUNT#a", "WINDOW#1", "TOMBSTONE"]) expect(happening({ sk })).toBeUndefined();
    expect(happening(undefined, { sk: "STATE" })).toBeUndefined();
  });

  it("shows when a webhook came, whatever the stream rounds its time to", () => {
    const item = {
      sk: `EVENT#${event.id}`,
      event,
      receipts: { ...receiptsOf(), since: Date.UTC(2026, 0, 1, 0, 0, 42) },
    };
    const NewImage = marshall(item, { removeUndefinedValues: true });
    const ApproximateCreationDateTime = new Date("2026-01-01T00:00:00.000Z");
    expect(happeningOf({ dynamodb: { NewImage, ApproximateCreationDateTime } }, now)?.at).toBe(
      "2026-01-01T00:00:42.000Z",
    );
  });

  it("is one line, whatever comes from outside", () => {
    const line = happeningLine({ at: now.toISOString(), what: "received", subject: "account/a\n\u001b[2J" });
    expect(line).toBe("2026-01-01T00:00:01.000Z  received      -                             account/a [2J");
  });
});
