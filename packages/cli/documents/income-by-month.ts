import { cellText, type Tabular } from "./tabular.ts";

/** What a list of records says of money, month by month. */
export type IncomeByMonth = {
  /** The members that are amounts, what a person earns first. */
  readonly amounts: readonly string[];
  /** The one that is added up. */
  readonly amount: string;
  /** The member that says in which month it was. */
  readonly date: string;
  /** `2026-01` and so on, without a gap. */
  readonly months: readonly string[];
  /** Of each currency the sum of each month, exactly; a currency without a name is "". */
  readonly sums: readonly { readonly currency: string; readonly byMonth: readonly string[] }[];
};

/** Names that providers give, the most telling first. Any other member can be one as well. */
const amountNames = ["net", "amount", "earnings", "gross", "pay", "salary", "income", "total", "fare"];
const dateNames = ["paid_at", "pay_date", "date_end", "date", "at", "started_at", "date_start"];

/** Enough for a life; a list with more holds dates that are none. */
const maxMonths = 1_200;

/**
 * Adds up amounts by month, without losing a digit.
 * @param wanted the member to add up; else the most telling one
 * @returns undefined where no member of all records is an amount, or none is a date
 */
export function incomeByMonth({ columns, records }: Tabular, wanted?: string): IncomeByMonth | undefined {
  const valuesOf = (name: string) =>
    records
      .map((record) => record.get(name))
      .filter(isThere)
      .map(cellText);
  const isAll = (name: string, pattern: RegExp) => {
    const values = valuesOf(name);
    return values.length > 0 && values.every((value) => pattern.test(value));
  };
  const amounts = byName(columns, amountNames).filter(
    (name) =>
      isAll(name, decimal) &&
      (amountNames.includes(name) || valuesOf(name).some((value) => value.includes("."))),
  );
  const date = byName(columns, dateNames).find((name) => isAll(name, beginsWithDay));
  const amount = amounts.find((name) => name === wanted) ?? amounts[0];
  if (amount === undefined || date === undefined) return undefined;
  const rows = records.flatMap((record) => {
    const [value, day] = [record.get(amount), record.get(date)];
    if (!isThere(value) || !isThere(day)) return [];
    const currency = record.get("currency");
    return [
      {
        month: cellText(day).slice(0, "2026-01".length),
        value: cellText(value),
        currency: typeof currency === "string" ? currency : "",
      },
    ];
  });
  const months = monthsBetween(rows.map(({ month }) => month).toSorted());
  if (months === undefined) return undefined;
  const currencies = [...new Set(rows.map(({ currency }) => currency))].toSorted();
  const sums = currencies.map((currency) => ({
    currency,
    byMonth: months.map((month) =>
      sumOf(rows.filter((row) => row.month === month && row.currency === currency).map(({ value }) => value)),
    ),
  }));
  return { amounts, amount, date, months, sums };
}

/** Without a power of ten: that could stand for a number with a million digits. */
const decimal = /^-?\d{1,30}(\.\d{1,20})?$/;
const beginsWithDay = /^\d{4}-(0[1-9]|1[0-2])-\d{2}(?!\d)/;

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function byName(columns: readonly string[], names: readonly string[]): readonly string[] {
  return [
    ...names.filter((name) => columns.includes(name)),
    ...columns.filter((name) => !names.includes(name)),
  ];
}

/** @param found in their order. @returns undefined where there are none, or too many */
function monthsBetween(found: readonly string[]): readonly string[] | undefined {
  const [first, last] = [found[0], found.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const [begin, end] = [numberOfMonth(first), numberOfMonth(last)];
  if (end - begin >= maxMonths) return undefined;
  return Array.from({ length: end - begin + 1 }, (_, index) => nameOfMonth(begin + index));
}

function numberOfMonth(name: string): number {
  return Number(name.slice(0, 4)) * 12 + Number(name.slice(5)) - 1;
}

function nameOfMonth(number: number): string {
  return `${String(Math.floor(number / 12)).padStart(4, "0")}-${String((number % 12) + 1).padStart(2, "0")}`;
}

/** Decimals added as whole numbers of their smallest part. */
function sumOf(values: readonly string[]): string {
  const places = Math.max(0, ...values.map((value) => value.split(".")[1]?.length ?? 0));
  const total = values.reduce((sum, value) => {
    const [whole = "", fraction = ""] = value.split(".");
    return sum + BigInt(whole + fraction.padEnd(places, "0"));
  }, 0n);
  const digits = String(total < 0n ? -total : total).padStart(places + 1, "0");
  const [whole, fraction] = [digits.slice(0, digits.length - places), digits.slice(digits.length - places)];
  return `${total < 0n ? "-" : ""}${whole}${places === 0 ? "" : `.${fraction}`}`;
}
