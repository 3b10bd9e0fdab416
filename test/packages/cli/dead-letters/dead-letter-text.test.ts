import { describe, expect, it } from "vitest";
import { type Body, writeEnvelope } from "../../../../domain/event/envelope.ts";
import { deadLetterText } from "../../../../packages/cli/dead-letters/dead-letter-text.ts";

const overflow = {
  get: async (key: string) => {
    if (key !== "bodies/users/digest") throw new Error("there is no such object");
    return Buffer.from("a large body");
  },
};
const deadLetterOf = (body: string) => ({ messageId: "m", sentAt: new Date(0), receives: 1, body });
const eventOf = (body: Body) =>
  writeEnvelope({ schemaVersion: 1, kind: "users", id: "digest", receivedAt: "2026-11-21T12:00:00Z", body });

describe("what a dead letter says", () => {
  it.each<[string, Body, string]>([
    ["as text", { type: "text", text: "{}" }, "{}"],
    ["in base64", { type: "base64", base64: "w6k=" }, "é"],
    ["in S3", { type: "object", key: "bodies/users/digest", encoding: "text", bytes: 12 }, "a large body"],
  ])("is the webhook's body, where that is %s", async (_, body, text) => {
    expect(await deadLetterText(deadLetterOf(eventOf(body)), overflow)).toBe(text);
  });

  it.each<[string, string]>([
    ["a body that is gone", eventOf({ type: "object", key: "bodies/gone", encoding: "text", bytes: 1 })],
    ["facts", eventOf({ type: "facts", facts: { type: "user.created", userId: "u" } })],
    ["no event", "no JSON"],
  ])("is the message itself, where it has %s", async (_, message) => {
    expect(await deadLetterText(deadLetterOf(message), overflow)).toBe(message);
  });
});
