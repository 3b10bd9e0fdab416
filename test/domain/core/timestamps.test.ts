import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTimestamp, readTime } from "../../../domain/core/timestamps.ts";

describe("a timestamp", () => {
  it.each([
    ["2026-03-01 12:34:56 UTC", "2026-03-01T12:34:56.000Z"],
    ["2026-03-01 12:34:56.7 UTC", "2026-03-01T12:34:56.700Z"],
    ["2026-03-01 12:34:56.123456 UTC", "2026-03-01T12:34:56.123Z"],
    ["2026-03-01T12:34:56Z", "2026-03-01T12:34:56.000Z"],
    ["2026-03-01t12:34:56.5z", "2026-03-01T12:34:56.500Z"],
    ["2026-03-01T00:30:00+02:00", "2026-02-28T22:30:00.000Z"],
    ["2026-12-31 23:30:00-05:45", "2027-01-01T05:15:00.000Z"],
    [" 2026-03-01T12:34:56.999999999+00:00 ", "2026-03-01T12:34:56.999Z"],
    ["2026-03-01T12:34:56+0200", "2026-03-01T10:34:56.000Z"],
    ["2026-03-01T12:34:56-0330", "2026-03-01T16:04:56.000Z"],
    ["2026-03-01T12:34:56+00", "2026-03-01T12:34:56.000Z"],
    ["2026-03-01T12:34:56+02", "2026-03-01T10:34:56.000Z"],
    ["2026-03-01T12:34:56 +0000", "2026-03-01T12:34:56.000Z"],
    ["2026-03-01 12:34:56 GMT", "2026-03-01T12:34:56.000Z"],
    ["2026-03-01T12:34:56,123Z", "2026-03-01T12:34:56.123Z"],
    ["2026-03-01T12:34Z", "2026-03-01T12:34:00.000Z"],
    ["2026-03-01T24:00:00Z", "2026-03-02T00:00:00.000Z"],
    ["20260301T2400Z", "2026-03-02T00:00:00.000Z"],
    ["2026-12-31T23:59:60Z", "2027-01-01T00:00:00.000Z"],
    ["2026-03-01T12:34:56\u221202:00", "2026-03-01T14:34:56.000Z"],
    ["2026-03-01T12:34:56+01:00[Europe/Paris]", "2026-03-01T11:34:56.000Z"],
    ["2026-03-01T12:34:56.5Z[UTC]", "2026-03-01T12:34:56.500Z"],
    ["2026-03-01 12:34:56 utc", "2026-03-01T12:34:56.000Z"],
    ["2026-03-01T12Z", "2026-03-01T12:00:00.000Z"],
    ["2026-03-01", "2026-03-01T00:00:00.000Z"],
    ["20260301T123456Z", "2026-03-01T12:34:56.000Z"],
    ["20260301T123456.25+0100", "2026-03-01T11:34:56.250Z"],
    ["20260301T1234Z", "2026-03-01T12:34:00.000Z"],
    ["20260301", "2026-03-01T00:00:00.000Z"],
    ["2026-060T12:34:56Z", "2026-03-01T12:34:56.000Z"],
    ["2026060T123456Z", "2026-03-01T12:34:56.000Z"],
    ["2028-366", "2028-12-31T00:00:00.000Z"],
    ["2026-W09-7T12:34:56Z", "2026-03-01T12:34:56.000Z"],
    ["2026W097T123456Z", "2026-03-01T12:34:56.000Z"],
    ["2026-W01-1", "2025-12-29T00:00:00.000Z"],
    ["2026-W53-7", "2027-01-03T00:00:00.000Z"],
    ["2027-W01-1", "2027-01-04T00:00:00.000Z"],
    ["Sun, 01 Mar 2026 12:34:56 GMT", "2026-03-01T12:34:56.000Z"],
    ["Sun, 1 Mar 2026 12:34:56 GMT", "2026-03-01T12:34:56.000Z"],
    ["01 Mar 2026 12:34 +0100", "2026-03-01T11:34:00.000Z"],
    ["SUN, 01 MAR 2026 12:34:56 gmt", "2026-03-01T12:34:56.000Z"],
    ["2026-03-01T12:34:56-00:00", "2026-03-01T12:34:56.000Z"],
    ["Sun, 01 Mar 2026 23:34:56 -0500", "2026-03-02T04:34:56.000Z"],
  ])("is read from %j", (text, expected) => {
    expect(parseTimestamp(text)).toBe(expected);
    expect(readTime(text)?.time).toBe(expected);
  });

  it("is in UTC without a zone, wherever the function runs", () => {
    const zone = process.env.TZ;
    process.env.TZ = "America/New_York";
    try {
      expect(parseTimestamp("2026-07-01 12:34:56")).toBe("2026-07-01T12:34:56.000Z");
      expect(parseTimestamp("2026-07-01T12:34:56.25")).toBe("2026-07-01T12:34:56.250Z");
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  it("is undefined if the text is not a date-time, or names one that does not exist", () => {
    const wrong = [
      "",
      "now",
      "12:34:56",
      "01/03/2026 12:34:56",
      "2026-03-01 12:34:56 CET",
      "2026-03-01 12:34:56. UTC",
      "2026-13-01 00:00:00",
      "2026-00-10 00:00:00",
      "2026-02-30 00:00:00",
      "2026-02-29 00:00:00",
      "2026-04-31T00:00:00Z",
      "2026-03-01 24:00:01",
      "2026-03-01 24:01",
      "2026-03-01T24:00:00.001Z",
      "20260301T240001Z",
      "2026-03-01 12:34:61",
      "2026-03-01T12:34:56[Europe/Paris]",
      "2026-03-01 12:60:00",
      "2026-03-01T12:00:00+99:00",
      "20260-03-01T12:00:00Z",
      "2026-03-01T12:00:00+2",
      "2026-03-01T12:00:00+24:00",
      "2026-0301T12:00:00Z",
      "20260301T12:00:00Z",
      "2026-03-01T120000Z",
      "20260301123456",
      "2026-000",
      "2026-366",
      "2026-W00-1",
      "2026-W54-1",
      "2025-W53-1",
      "2026-W09-8",
      "Sun, 31 Feb 2026 12:34:56 GMT",
      "Sun, 01 March 2026 12:34:56 GMT",
      "Sun Mar  1 12:34:56 2026",
      "1772368496",
      "2026-03-01 12:34:56 UTC\n2026",
    ];
    for (const text of wrong) expect(parseTimestamp(text), text).toBeUndefined();
  });

  it("takes 29 February in leap years only", () => {
    expect(parseTimestamp("2028-02-29 00:00:00")).toBe("2028-02-29T00:00:00.000Z");
    expect(parseTimestamp("2100-02-29 00:00:00")).toBeUndefined();
  });

  it("is undefined if its offset leads outside years of four digits", () => {
    expect(parseTimestamp("0000-01-01T00:00:00+00:01")).toBeUndefined();
    expect(parseTimestamp("9999-12-31T23:59:59-00:01")).toBeUndefined();
  });

  it("compares as text as it does in time, in every format and zone", () => {
    const two = (value: number) => String(Math.abs(value)).padStart(2, "0");
    const written = fc
      .record({
        at: fc.date({
          min: new Date("0001-01-02T00:00:00Z"),
          max: new Date("9999-12-30T00:00:00Z"),
          noInvalidDate: true,
        }),
        offset: fc.integer({ min: -23 * 60, max: 23 * 60 }),
        format: fc.constantFrom("provider", "rfc", "bare"),
      })
      .map(({ at, offset, format }) => {
        const iso = at.toISOString();
        if (format === "provider") return { at, text: iso.replace("T", " ").replace("Z", " UTC") };
        if (format === "bare") return { at, text: iso.slice(0, -1) };
        const local = new Date(at.getTime() + offset * 60_000).toISOString().slice(0, -1);
        const sign = offset < 0 ? "-" : "+";
        return { at, text: `${local}${sign}${two(Math.trunc(offset / 60))}:${two(offset % 60)}` };
      });
    fc.assert(
      fc.property(written, written, (one, other) => {
        const [left, right] = [parseTimestamp(one.text), parseTimestamp(other.text)];
        expect(left).toBe(one.at.toISOString());
        expect(right).toBe(other.at.toISOString());
        expect((left ?? "") < (right ?? "")).toBe(one.at.getTime() < other.at.getTime());
      }),
      { numRuns: 500 },
    );
  });
});

describe("a Unix time", () => {
  it.each([
    [1_772_368_496, "2026-03-01T12:34:56.000Z", "seconds"],
    ["1772368496", "2026-03-01T12:34:56.000Z", "seconds"],
    [1_772_368_496.512, "2026-03-01T12:34:56.512Z", "seconds"],
    ["1772368496.5", "2026-03-01T12:34:56.500Z", "seconds"],
    [" 1772368496,512\n", "2026-03-01T12:34:56.512Z", "seconds"],
    ["1772368496.123456789", "2026-03-01T12:34:56.123Z", "seconds"],
    [1_772_368_496_789, "2026-03-01T12:34:56.789Z", "milliseconds"],
    ["1772368496789", "2026-03-01T12:34:56.789Z", "milliseconds"],
    ["1772368496789.25", "2026-03-01T12:34:56.789Z", "milliseconds"],
    [1_772_368_496_789_123, "2026-03-01T12:34:56.789Z", "microseconds"],
    ["1772368496789123", "2026-03-01T12:34:56.789Z", "microseconds"],
    ["1772368496789123456", "2026-03-01T12:34:56.789Z", "nanoseconds"],
    [Number("1772368496789123456"), "2026-03-01T12:34:56.789Z", "nanoseconds"],
  ])("is read from %j, told apart by its size", (value, time, unit) => {
    expect(readTime(value)).toEqual({ time, form: `Unix ${unit}` });
  });

  it.each([
    0,
    -1_772_368_496,
    17_723_684_960,
    "0772368496",
    "1772368496.",
    "1e10",
    "2026",
    "",
    null,
    {},
    [],
    [1_772_368_496],
    true,
  ])("is undefined in another length or form: %j", (value) => {
    expect(readTime(value)).toBeUndefined();
  });
});

it.each([
  ["2026-03-01T12:34:56Z", "ISO 8601"],
  ["2026-03-01 12:34:56", "ISO 8601 without a zone: UTC"],
  ["2026-03-01", "ISO 8601, a date: its first moment in UTC"],
  ["Sun, 01 Mar 2026 12:34:56 GMT", "RFC 1123"],
])("the format of %s is named: %s", (text, form) => {
  expect(readTime(text)?.form).toBe(form);
});
