import { describe, expect, it } from "vitest";
import {
  checkFound,
  checkSelection,
  isSelected,
  reasonOf,
} from "../../../../packages/cli/dead-letters/selection.ts";

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
    ["the beginning of the message's id", { id: "message-" }, true],
    ["the end of it", { id: "essage-1" }, false],
    ["a part of the reason", { reason: "answered 422" }, true],
    ["a part of the reason in another letter case", { reason: "Answered" }, true],
    ["a part of the reason with characters of a pattern", { reason: "answered.422" }, false],
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

  it("is by whom a task is about, with the kind or without it", () => {
    const body = JSON.stringify({ type: "fetchState", subject: { kind: "account", id: "9c858901-8a57" } });
    for (const id of ["account/9c858901", "9c858901"])
      expect(isSelected({ ...deadLetter, body }, { id })).toBe(true);
  });

  it("is refused where an id is cut too short, and ends where no dead letter has it", () => {
    expect(() => checkSelection({ id: "messag" })).toThrow("give 8 characters of it at least");
    expect(() => checkFound({ id: "message-3" }, 0, "users")).toThrow("No dead letter of users has an <id>");
    expect(() => checkFound({ id: "message-1" }, 1, "users")).not.toThrow();
    expect(() => checkFound({ reason: "422" }, 0, "users")).not.toThrow();
  });

  it("is refused where a flag is empty, which would mean all dead letters", () => {
    expect(() => checkSelection({ id: " " })).toThrow("--id is empty");
    expect(() => checkSelection({ reason: "" })).toThrow("--reason is empty");
    expect(() => checkSelection({ reason: "x" })).not.toThrow();
  });
});
