import { describe, expect, it } from "vitest";
import { retryAfterInSeconds } from "../../../domain/fetch/answer.ts";

const now = new Date("2026-11-21T12:00:00Z");
const longest = 11 * 3_600;

describe("Retry-After", () => {
  it.each<[string | undefined, number | undefined]>([
    ["17", 17],
    [" 17 ", 17],
    ["0", 0],
    ["1.5", 1.5],
    ["0.25", 0.25],
    [".5", 0.5],
    ["2.", 2],
    ["0007", 7],
    ["3600", 3_600],
    ["Sat, 21 Nov 2026 12:01:30 GMT", 90],
    ["Saturday, 21-Nov-26 12:01:30 GMT", 90],
    ["Sat Nov 21 12:01:30 2026", 90],
    ["2026-11-21T12:01:30Z", 90],
    ["2026-11-21T12:01:30.5Z", 90.5],
    ["2026-11-21T13:01:30+01:00", 90],
    ["2026-11-21T12:01:30", 90],
    ["Sat, 21 Nov 2026 11:59:59 GMT", 0],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["86400", longest],
    ["99999999999999", longest],
    [String(now.getTime() / 1_000 + 90), 90],
    [String(now.getTime() + 90_000), 90],
    [String(now.getTime() / 1_000 - 90), 0],
    [String(now.getTime() / 1_000 + 86_400), longest],
    ["9".repeat(400), longest],
    ["Sat, 21 Nov 2126 12:00:00 GMT", longest],
    [undefined, undefined],
    ["", undefined],
    ["-5", undefined],
    ["-1.5", undefined],
    ["+5", undefined],
    ["1e3", undefined],
    ["0x10", undefined],
    ["1,5", undefined],
    ["1.5.2", undefined],
    ["5 s", undefined],
    ["5, 10", undefined],
    [".", undefined],
    ["Infinity", undefined],
    ["NaN", undefined],
    ["soon", undefined],
    ["soon 2030", undefined],
    ["21 Nov 2030", undefined],
    ["Sat, 99 Nov 2026 12:01:30 GMT", undefined],
    ["2026-13-21T12:01:30Z", undefined],
  ])("%s waits for %s seconds", (value, seconds) => {
    expect(retryAfterInSeconds(value, now)).toBe(seconds);
  });
});
