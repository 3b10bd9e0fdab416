import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTimestamp, parseUnixTime } from "../../../domain/core/timestamps.ts";

describe("a timestamp", () => {
  it("is read in the provider's format, with and without a fraction", () => {
    expect(parseTimestamp("2026-03-01 12:34:56 UTC")).toBe("2026-03-01T12:34:56.000Z");
    expect(parseTimestamp("2026-03-01 12:34:56.7 UTC")).toBe("2026-03-01T12:34:56.700Z");
    expect(parseTimestamp("2026-03-01 12:34:56.123456 UTC")).toBe("2026-03-01T12:34:56.123Z");
  });

  it("is read in RFC 3339, with its offset", () => {
    expect(parseTimestamp("2026-03-01T12:34:56Z")).toBe("2026-03-01T12:34:56.000Z");
    expect(parseTimestamp("2026-03-01t12:34:56.5z")).toBe("2026-03-01T12:34:56.500Z");
    expect(parseTimestamp("2026-03-01T00:30:00+02:00")).toBe("2026-02-28T22:30:00.000Z");
    expect(parseTimestamp("2026-12-31 23:30:00-05:45")).toBe("2027-01-01T05:15:00.000Z");
    expect(parseTimestamp(" 2026-03-01T12:34:56.999999999+00:00 ")).toBe("2026-03-01T12:34:56.999Z");
  });

  it("is UTC where it has no zone, wherever the function runs", () => {
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

  it("is none where the text is no date-time, or names one that does not exist", () => {
    const wrong = [
      "",
      "now",
      "2026-03-01",
      "12:34:56",
      "2026-03-01 12:34 UTC",
      "01/03/2026 12:34:56",
      "2026-03-01 12:34:56 CET",
      "2026-03-01 12:34:56. UTC",
      "2026-13-01 00:00:00",
      "2026-00-10 00:00:00",
      "2026-02-30 00:00:00",
      "2026-02-29 00:00:00",
      "2026-04-31T00:00:00Z",
      "2026-03-01 24:00:00",
      "2026-03-01 12:60:00",
      "2026-03-01T12:00:00+99:00",
      "2026-03-01T12:00:00+0200",
      "20260-03-01T12:00:00Z",
      "1772368496",
      "2026-03-01 12:34:56 UTC\n2026",
    ];
    for (const text of wrong) expect(parseTimestamp(text), text).toBeUndefined();
  });

  it("takes 29 February in leap years only", () => {
    expect(parseTimestamp("2028-02-29 00:00:00")).toBe("2028-02-29T00:00:00.000Z");
    expect(parseTimestamp("2100-02-29 00:00:00")).toBeUndefined();
  });

  it("is none where its offset leads out of the years of four digits", () => {
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
  it("is read in seconds and milliseconds, as a number or as digits", () => {
    for (const value of [1_772_368_496, "1772368496", 1_772_368_496_000, "1772368496000"]) {
      expect(parseUnixTime(value)).toBe("2026-03-01T12:34:56.000Z");
    }
    expect(parseUnixTime(1_772_368_496_789)).toBe("2026-03-01T12:34:56.789Z");
  });

  it("is nothing else: a fraction, a date, an id of another length", () => {
    for (const value of [
      0,
      -1_772_368_496,
      1_772_368_496.5,
      17_723_684_960,
      "0772368496",
      "2026",
      "",
      null,
      {},
    ]) {
      expect(parseUnixTime(value)).toBeUndefined();
    }
  });
});
