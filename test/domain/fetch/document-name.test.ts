import { describe, expect, it } from "vitest";
import { nameOfData, parseDataName, rangeOf } from "../../../domain/fetch/document-name.ts";

const range = { start: "2026-01-01", end: "2026-01-31" };

describe("a range of dates", () => {
  it.each([
    ["2026-01-01", "2026-01-31"],
    ["2026-01-01 00:00:00 UTC", "2026-01-31 23:59:59.999 UTC"],
    ["2026-01-01T00:00:00Z", "2026-01-31T23:59:59+02:00"],
  ])("is taken from an event: %s to %s", (dateStart, dateEnd) => {
    expect(rangeOf({ dateStart, dateEnd })).toEqual({ start: dateStart, end: dateEnd });
  });

  it.each([
    ["2026-01-01", undefined],
    [undefined, "2026-01-31"],
    ["last week", "2026-01-31"],
    ["2026-01-01", "20260131"],
    ["2026-01-01#2026-01-02", "2026-01-31"],
    ["2026-01-01", "../2026-01-31"],
  ])("is undefined if a date is missing or in an unknown format: %s to %s", (dateStart, dateEnd) => {
    const dates = { ...(dateStart && { dateStart }), ...(dateEnd && { dateEnd }) };
    expect(rangeOf(dates)).toBeUndefined();
  });
});

describe("the name of data", () => {
  it("is its endpoint, and its range if it has one", () => {
    expect(nameOfData({ endpoint: "income" }, "#")).toBe("income");
    expect(nameOfData({ endpoint: "income", range }, "#")).toBe("income#2026-01-01..2026-01-31");
    expect(nameOfData({ endpoint: "income", range }, "/")).toBe("income/2026-01-01..2026-01-31");
  });

  it("is parsed as it was written, and refused by the invalid field", () => {
    for (const name of [{ endpoint: "income" }, { endpoint: "income", range }]) {
      expect(parseDataName({ ...name, version: 1 })).toEqual(name);
    }
    expect(() => parseDataName({ range })).toThrow("endpoint: expected a text");
    expect(() => parseDataName({ endpoint: "income", range: { start: "x" } })).toThrow(
      "end: expected a text",
    );
  });
});
