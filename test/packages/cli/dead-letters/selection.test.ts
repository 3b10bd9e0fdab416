import { describe, expect, it } from "vitest";
import { type Body, writeEnvelope } from "../../../../domain/event/envelope.ts";
import {
  checkFound,
  checkSelection,
  deadLetterText,
  isSelected,
  nextStepOf,
  reasonOf,
} from "../../../../packages/cli/dead-letters/selection.ts";

const deadLetter = {
  messageId: "sqs-1",
  sentAt: new Date("2026-11-21T12:00:00Z"),
  receives: 1,
  body: JSON.stringify({ specversion: "1.0", type: "user.created", id: "message-1" }),
};

describe("a choice of dead letters", () => {
  it("includes all without a filter", () => {
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
    const moved = reasonOf(deadLetter);
    expect(isSelected(deadLetter, { reason: moved })).toBe(true);
    expect(isSelected({ ...deadLetter, reason: "x" }, { reason: moved })).toBe(false);
  });

  it.each(["account/9c858901", "9c858901"])("is by the subject of a task: %s", (id) => {
    const body = JSON.stringify({ type: "fetchState", subject: { kind: "account", id: "9c858901-8a57" } });
    expect(isSelected({ ...deadLetter, body }, { id })).toBe(true);
  });

  it("is refused if a flag is empty, an id is too short or no dead letter has it", () => {
    expect(() => checkSelection({ id: "messag" })).toThrow("give at least 8 characters of it");
    // An empty flag would select all.
    expect(() => checkSelection({ id: " " })).toThrow("--id is empty");
    expect(() => checkSelection({ reason: "" })).toThrow("--reason is empty");
    expect(() => checkSelection({ reason: "x" })).not.toThrow();
    expect(() => checkFound({ id: "message-3" }, 0, "users")).toThrow("No dead letter of users has an id");
    expect(() => checkFound({ id: "message-1" }, 1, "users")).not.toThrow();
    expect(() => checkFound({ reason: "422" }, 0, "users")).not.toThrow();
  });
});

const overflow = {
  get: async (key: string) => {
    if (key !== "bodies/users/digest") throw new Error("there is no such object");
    return Buffer.from("a large body");
  },
};
const deadLetterOf = (body: string) => ({ messageId: "m", sentAt: new Date(0), receives: 1, body });
const eventOf = (body: Body) =>
  writeEnvelope({ schemaVersion: 1, kind: "users", id: "digest", receivedAt: "2026-11-21T12:00:00Z", body });

describe("the content of a dead letter", () => {
  it.each<[string, Body, string]>([
    ["as text", { type: "text", text: "{}" }, "{}"],
    ["in base64", { type: "base64", base64: "w6k=" }, "é"],
    ["in S3", { type: "object", key: "bodies/users/digest", encoding: "text", bytes: 12 }, "a large body"],
  ])("is the webhook's body if that is %s", async (_, body, text) => {
    expect(await deadLetterText(deadLetterOf(eventOf(body)), overflow)).toBe(text);
  });

  it.each<[string, string]>([
    ["a body that is gone", eventOf({ type: "object", key: "bodies/gone", encoding: "text", bytes: 1 })],
    ["facts", eventOf({ type: "facts", facts: { type: "user.created", userId: "u" } })],
    ["no event", "no JSON"],
  ])("is the message itself if it has %s", async (_, message) => {
    expect(await deadLetterText(deadLetterOf(message), overflow)).toBe(message);
  });
});

it.each([
  ["users", 'type: mapping.types translates no event name "sing"', "map"],
  ["accounts", 'accountId: not a UUID; mapping.ids "any" would accept it', "map"],
  ["accounts", "not JSON at position 7", "purge"],
  ["endpoints", "webhook is not JSON", "purge"],
  ["users", undefined, "redrive"],
  ["users", "DynamoDB: ValidationException", "redrive"],
  ["fetch", "the provider answered 422", "redrive"],
  ["erase", "id: missing", "redrive"],
  ["subscriber/everything", "the queue is gone", "resend"],
] as const)("a dead letter of %s with the reason %s: %s", (queue, reason, step) => {
  expect(nextStepOf(queue, reason === undefined ? {} : { reason })).toBe(step);
});
