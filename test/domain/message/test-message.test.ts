import { expect, test } from "vitest";
import { testMessage } from "../../../domain/message/test-message.ts";
import { readMessage } from "../../../packages/subscriber/read-message.ts";

const at = new Date("2026-11-21T12:00:00Z");
const message = testMessage("7b1c", "risk-team", "/income-events/prod", at);

test("a test message is a CloudEvent with its own type", () => {
  expect(readMessage(JSON.stringify(message))).toEqual({ type: "message", message });
  expect(message).toMatchObject({ type: "subscriber.test", data: { test: true }, time: at.toISOString() });
});

test("of two tests of a subscriber the later one has the higher sequence", () => {
  const later = testMessage("8c2d", "risk-team", "/income-events/prod", new Date(at.getTime() + 1));
  expect(later.subject).toBe(message.subject);
  expect(later.sequence > message.sequence).toBe(true);
});
