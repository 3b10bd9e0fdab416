import { expect, it } from "vitest";
import { daysIn } from "../../../domain/fetch/document.ts";

const record = (date_start: unknown, date_end: unknown) => ({ id: "1", date_start, date_end, gross: "1.00" });

it.each<[string, unknown, number]>([
  ["one record", { data: [record("2026-01-01", "2026-01-31")] }, 31],
  [
    "several, in any order",
    { data: [record("2026-03-01", "2026-03-31"), record("2026-01-01", "2026-01-31")] },
    90,
  ],
  ["a bare list", [record("2026-01-01", "2026-01-01")], 1],
  ["date-times", { data: [record("2026-01-01T10:00:00Z", "2026-01-02 00:00:00 UTC")] }, 2],
  ["records without dates", { data: [{ id: "1" }, record(null, "2026-01-02"), "x", null] }, 0],
  ["days that are none", { data: [record("soon", "2026-01-02"), record("2026-01-05", "2026-01-02")] }, 0],
  ["an empty list", { data: [] }, 0],
  ["no list", { results: [record("2026-01-01", "2026-01-31")] }, 0],
  ["no object", "text", 0],
])("counts the days of %s", (_, document, days) => {
  expect(daysIn(JSON.stringify(document), "data")).toBe(days);
});
