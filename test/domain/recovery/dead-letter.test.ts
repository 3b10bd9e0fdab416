import { expect, test } from "vitest";
import { endOf } from "../../../domain/recovery/dead-letter.ts";

test("a dead letter ends when its queue's retention is over, counted from its sending", () => {
  const sentAt = new Date("2026-03-01T12:00:00.000Z");
  expect(endOf({ sentAt }, 14 * 86_400)).toEqual(new Date("2026-03-15T12:00:00.000Z"));
});
