import { expect, it } from "vitest";
import { losslessValue } from "../../../../domain/event/lossless-json.ts";
import { incomeByMonth } from "../../../../packages/cli/documents/income-by-month.ts";
import { tablesOf } from "../../../../packages/cli/documents/tabular.ts";

const incomeOf = (text: string, wanted?: string) => {
  const [table] = tablesOf(losslessValue(text));
  return table && incomeByMonth(table, wanted);
};

it("finds the lists of records of a document, with the members that any of them has", () => {
  const tables = tablesOf(
    losslessValue('{"data":[{"a":1},{"b":[2]}],"meta":{"days":[{"c":3}],"no":[1,{}]},"none":[]}'),
  );
  expect(tables.map(({ path, columns }) => [path, columns])).toEqual([
    ["data", ["a", "b"]],
    ["meta.days", ["c"]],
  ]);
  expect(tablesOf(losslessValue("[1]"))).toEqual([]);
});

it("adds up the net of each month to the last digit, and leaves no month out", () => {
  const text = JSON.stringify({
    data: [
      { paid_at: "2026-01-31 12:00:00", currency: "USD", gross: "2.00", net: "0.10" },
      { paid_at: "2026-01-02 12:00:00", currency: "USD", gross: "3.00", net: "0.20" },
      { paid_at: "2025-11-30 12:00:00", currency: "USD", gross: "1.00", net: "9007199254740993.01" },
      { paid_at: null, currency: "USD", gross: "1.00", net: "7.00" },
    ],
  });
  expect(incomeOf(text)).toEqual({
    ...{ amounts: ["net", "gross"], amount: "net", date: "paid_at" },
    months: ["2025-11", "2025-12", "2026-01"],
    sums: [{ currency: "USD", byMonth: ["9007199254740993.01", "0", "0.30"] }],
  });
  expect(incomeOf(text, "gross")).toMatchObject({
    amount: "gross",
    sums: [{ byMonth: ["1.00", "0", "5.00"] }],
  });
});

it("keeps currencies apart, takes numbers for amounts, and those below zero", () => {
  expect(
    incomeOf(
      '[{"date":"2026-03-01","amount":-12.5,"currency":"EUR"},{"date":"2026-03-02","amount":10,"currency":"EUR"},{"date":"2026-03-02","amount":1}]',
    )?.sums,
  ).toEqual([
    { currency: "", byMonth: ["1"] },
    { currency: "EUR", byMonth: ["-2.5"] },
  ]);
});

it.each([
  ["no member is a date", '[{"net":"1.00","day":"monday"}]'],
  ["no member is an amount", '[{"paid_at":"2026-01-01","net":"much","trips":3}]'],
  ["an amount is written with a power of ten", '[{"paid_at":"2026-01-01","net":1e999999999}]'],
  [
    "the dates are further apart than a life",
    '[{"date":"0001-01-01","net":"1"},{"date":"9999-01-01","net":"1"}]',
  ],
  ["it is masked", '[{"paid_at":"(text)","net":"(text)"}]'],
])("says nothing of a document of which %s", (_, text) => {
  expect(incomeOf(text)).toBeUndefined();
});
