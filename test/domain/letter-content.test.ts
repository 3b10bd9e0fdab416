import { describe, expect, it } from "vitest";
import { writeEnvelope } from "../../domain/envelope.ts";
import { contentOfLetter } from "../../domain/letter-content.ts";
import { askTask, writeTask } from "../../domain/tasks.ts";

const envelope = {
  schemaVersion: 1,
  kind: "users",
  id: "digest",
  receivedAt: "2026-11-21T12:00:00Z",
} as const;

describe("what a dead letter is about", () => {
  it("is told of an event: its kind, its id, and the webhook's own body", () => {
    const letter = writeEnvelope({ ...envelope, body: { as: "text", text: '{"user_id":1}' } });
    expect(contentOfLetter(letter)).toEqual({ what: "users event", id: "digest", payload: { user_id: 1 } });
    const unreadable = writeEnvelope({ ...envelope, body: { as: "text", text: "no JSON" } });
    expect(contentOfLetter(unreadable)).toMatchObject({ id: "digest", payload: "no JSON" });
  });

  it("is told of an event whose body lies elsewhere or was not kept", () => {
    const body = { as: "withheld", bytes: 9, error: "not JSON" } as const;
    expect(contentOfLetter(writeEnvelope({ ...envelope, body }))).toMatchObject({
      id: "digest",
      payload: body,
    });
  });

  it("is told of a task, with how often it was tried", () => {
    const task = { ...askTask({ kind: "account", id: "a" }, 3), attempts: 7 };
    expect(contentOfLetter(writeTask(task))).toEqual({
      what: "ask task",
      id: "account/a",
      attempts: 7,
      payload: task,
    });
  });

  it("is told of a subscriber's message", () => {
    const message = { specversion: "1.0", type: "user.created", id: "m", data: {} };
    expect(contentOfLetter(JSON.stringify(message))).toEqual({
      what: "user.created",
      id: "m",
      payload: message,
    });
  });

  it.each([
    ["no JSON {", "no JSON {"],
    ["[1]", [1]],
    ['{"kind":"other"}', { kind: "other" }],
    ['{"kind":"users","id":1}', { kind: "users", id: 1 }],
    ["null", null],
  ])("is unknown where the body is none of ours: %s", (body, payload) => {
    expect(contentOfLetter(body)).toEqual({ what: "unreadable", payload });
  });
});
