import { expect, it } from "vitest";
import { isUnordered, withBelievableTime } from "../../../domain/event/events.ts";

const receivedAt = "2026-11-27T12:00:00.000Z";
const believed = (time: string) => {
  const facts = { type: "account.connected", accountId: "a-1", time } as const;
  return !isUnordered(withBelievableTime(facts, receivedAt));
};

it.each([
  ["of the moment of the receipt", receivedAt, true],
  ["of ten days before the receipt", "2026-11-17T12:00:00.000Z", true],
  ["of the first moment of the year 2000", "2000-01-01T00:00:00.000Z", true],
  ["of the last moment before the year 2000", "1999-12-31T23:59:59.999Z", false],
  ["of the year 1970, as a clock without a battery has it", "1970-01-01T00:00:00.000Z", false],
  ["of the year 1", "0001-01-01T00:00:00.000Z", false],
  ["five minutes after the receipt, as clocks may differ", "2026-11-27T12:05:00.000Z", true],
  ["more than five minutes after the receipt", "2026-11-27T12:05:00.001Z", false],
  ["of an hour after the receipt, as a local time taken for UTC is", "2026-11-27T13:00:00.000Z", false],
  ["of the year 2126", "2126-11-26T12:00:00.000Z", false],
  ["of the last year that a text can name", "9999-12-31T23:59:59.999Z", false],
])("a time %s counts or does not", (_, time, expected) => {
  expect(believed(time)).toBe(expected);
});

it("an event keeps its other fields, and its own id", () => {
  const facts = { type: "account.connected", accountId: "a-1", eventId: "e-1" } as const;
  expect(withBelievableTime({ ...facts, time: "2126-11-26T12:00:00.000Z" }, receivedAt)).toEqual(facts);
});
