import { describe, expect, it } from "vitest";
import { writeEnvelope } from "../../../domain/event/envelope.ts";
import { stateTask, writeTask } from "../../../domain/fetch/task.ts";
import { endOf } from "../../../domain/recovery/dead-letter.ts";
import { contentOfDeadLetter } from "../../../domain/recovery/dead-letter-content.ts";
import { eraseTask, writeEraseTask } from "../../../domain/recovery/erasure.ts";

const envelope = {
  schemaVersion: 1,
  kind: "users",
  id: "digest",
  receivedAt: "2026-11-21T12:00:00Z",
  body: { type: "text", text: '{"user_id":1}' },
} as const;

describe("what a dead letter is about", () => {
  it("is reported for an event: its kind, its id, and its envelope", () => {
    expect(contentOfDeadLetter(writeEnvelope(envelope))).toEqual({
      what: "users event",
      id: "digest",
      envelope,
    });
  });

  it("is reported for an event that only a later release can read, without its envelope", () => {
    const later = JSON.stringify({ ...envelope, schemaVersion: 9 });
    expect(contentOfDeadLetter(later)).toEqual({ what: "users event", id: "digest" });
  });

  it("is reported for a task: its kind, and whom it is about", () => {
    const task = stateTask("fetchState", { kind: "account", id: "a" }, 3, {});
    expect(contentOfDeadLetter(writeTask(task))).toEqual({ what: "fetchState task", id: "account/a" });
  });

  it("is reported of an erasure: whose it is", () => {
    const erasure = writeEraseTask(eraseTask({ kind: "user", id: "u" }, "operator"));
    expect(contentOfDeadLetter(erasure)).toEqual({ what: "erasure", id: "user/u" });
  });

  it("is reported for a subscriber's message", () => {
    const message = { specversion: "1.0", type: "user.created", id: "m", data: {} };
    expect(contentOfDeadLetter(JSON.stringify(message))).toEqual({ what: "user.created", id: "m" });
  });

  it.each(["no JSON {", "[1]", '{"kind":"other"}', '{"kind":"users","id":1}', "null"])(
    "is unknown where the body is none of ours: %s",
    (body) => {
      expect(contentOfDeadLetter(body)).toEqual({ what: "unreadable" });
    },
  );
});

it("a dead letter ends when its queue's retention is over, counted from its sending", () => {
  const sentAt = new Date("2026-03-01T12:00:00.000Z");
  expect(endOf({ sentAt }, 14 * 86_400)).toEqual(new Date("2026-03-15T12:00:00.000Z"));
});
