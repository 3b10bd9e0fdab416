import { describe, expect, it } from "vitest";
import { checkSelection, isSelected, reasonOf } from "../../../cli/dead-letters/selection.ts";

const deadLetter = {
  messageId: "sqs-1",
  sentAt: new Date("2026-11-21T12:00:00Z"),
  receives: 1,
  body: JSON.stringify({ specversion: "1.0", type: "user.created", id: "message-1" }),
};

describe("a choice of dead letters", () => {
  it("is all of them where nothing is said", () => {
    expect(isSelected(deadLetter, {})).toBe(true);
  });

  it.each([
    ["the message's id", { id: "message-1" }, true],
    ["SQS's own id", { id: "sqs-1" }, true],
    ["another id", { id: "message-2" }, false],
    ["a part of the reason", { reason: "answered 422" }, true],
    ["another reason", { reason: "answered 503" }, false],
    ["both", { id: "sqs-1", reason: "422" }, true],
    ["both, of which one is another's", { id: "sqs-2", reason: "422" }, false],
  ])("is by %s", (_, selection, isChosen) => {
    expect(isSelected({ ...deadLetter, reason: "the provider answered 422" }, selection)).toBe(isChosen);
  });

  it("knows what SQS itself moved by the reason that is shown for it", () => {
    expect(isSelected(deadLetter, { reason: reasonOf(deadLetter) })).toBe(true);
    expect(isSelected({ ...deadLetter, reason: "x" }, { reason: reasonOf(deadLetter) })).toBe(false);
  });

  it("is refused where a flag is empty, which would mean all dead letters", () => {
    expect(() => checkSelection({ id: " " })).toThrow("--id is empty");
    expect(() => checkSelection({ reason: "" })).toThrow("--reason is empty");
    expect(() => checkSelection({ reason: "x" })).not.toThrow();
  });
});
