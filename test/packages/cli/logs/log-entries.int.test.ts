import { expect, test } from "vitest";
import { entryText, selectEntries } from "../../../../packages/cli/logs/log-entries.ts";

const line = (second: number, level: string, more: object = {}) =>
  JSON.stringify({ timestamp: `2026-11-21T12:00:0${second}.000Z`, level, code: "EVENT_STORED", ...more });
const lines = [
  line(3, "INFO", { function: "relay/changes", correlationIds: ["event-one", "event-two"] }),
  line(1, "INFO", { function: "receive/users", correlationId: "event-one", requestId: "r" }),
  line(2, "ERROR", { function: "store/users", correlationId: "event-two" }),
  "no line of a function's own",
  "",
];
const since = "2026-11-21T12:00:00.000Z";
const seconds = (filter: object) =>
  selectEntries(lines, { since, ...filter }).map(({ timestamp }) => Number(timestamp.slice(17, 19)));

test("the lines of one id are followed through all functions, in order", () => {
  expect(seconds({ text: "event-one" })).toEqual([1, 3]);
  expect(seconds({})).toEqual([1, 2, 3]);
});

test("lines are chosen by time and by the lowest level", () => {
  expect(seconds({ since: "2026-11-21T12:00:02.000Z" })).toEqual([2, 3]);
  expect(seconds({ level: "WARN" })).toEqual([2]);
});

test("an entry is one line: when, how bad, who, what, and what it was about", () => {
  const [first] = selectEntries(lines, { since, text: "event-one" });
  expect(first && entryText(first)).toBe(
    '2026-11-21T12:00:01.000Z  INFO   receive/users  EVENT_STORED  correlationId="event-one"',
  );
});
