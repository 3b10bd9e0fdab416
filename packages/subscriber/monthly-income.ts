import type { DocumentOf } from "./document-shapes.ts";

type Payment = Pick<DocumentOf<"income">["data"][number], "id" | "paid_at" | "currency" | "gross" | "net">;

/** An income document: the address of its version, from `message.data.document.href`, and its payments. */
export type IncomeDocument = { readonly href: string; readonly data: readonly Payment[] };

/** Income paid in one month in one currency. */
export type MonthlyIncome = {
  /** In UTC, such as `2026-11`. */
  readonly month: string;
  readonly currency: string;
  /** Decimals as text, with every digit. */
  readonly gross: string;
  readonly net: string;
  /** Number of payments. */
  readonly payments: number;
  /** The `href` of each document that a payment came from. */
  readonly documents: readonly string[];
};

/**
 * Sums income by month of payment and currency, in ascending order. Each payment of an account counts once,
 * by its id, as the newest document has it. Documents may be repeated, in any order, in several versions, and
 * with overlapping ranges; only the newest version of a document counts.
 * @throws Error naming the payment whose time, currency or amount can't be parsed, or the document that has a
 * payment without an id
 */
export function monthlyIncome(documents: readonly IncomeDocument[]): readonly MonthlyIncome[] {
  const months = new Map<string, Counted[]>();
  for (const counted of newestPayments(newestVersions(documents))) {
    const key = `${monthOf(counted.payment)} ${currencyOf(counted.payment)}`;
    months.set(key, [...(months.get(key) ?? []), counted]);
  }
  return [...months]
    .sort(([one], [other]) => compare(one, other))
    .map(([key, counted]) => ({
      month: key.slice(0, 7),
      currency: key.slice(8),
      gross: sumOf(counted, "gross"),
      net: sumOf(counted, "net"),
      payments: counted.length,
      documents: [...new Set(counted.map(({ href }) => href))].sort(compare),
    }));
}

type Counted = { readonly payment: Payment; readonly href: string };

type Version = IncomeDocument & {
  /** The document's path, without its version. */
  readonly path: string;
  readonly account: string;
  readonly version: bigint;
};

/** The newest version of each document, oldest first. */
function newestVersions(documents: readonly IncomeDocument[]): readonly Version[] {
  const newest = new Map<string, Version>();
  for (const document of documents) {
    // Drops the stage's address, which differs between URLs and functions' ARNs.
    const [path = "", query] = document.href.slice(Math.max(document.href.indexOf("/v1/"), 0)).split("?");
    const version = BigInt(new URLSearchParams(query).get("version") ?? 0);
    const [account = path] = path.split("/documents/");
    const known = newest.get(path);
    if (known === undefined || version > known.version)
      newest.set(path, { ...document, path, account, version });
  }
  // Breaks ties by path, so that the result is always the same.
  const isOlder = (one: Version, other: Version) =>
    one.version === other.version ? compare(one.path, other.path) : one.version < other.version ? -1 : 1;
  return [...newest.values()].sort(isOlder);
}

function newestPayments(documents: readonly Version[]) {
  const payments = new Map<string, Counted>();
  for (const { account, path, href, data } of documents) {
    for (const payment of data) {
      if (!isText(payment.id)) throw new Error(`a payment in ${path}: id can't be read`);
      payments.set(JSON.stringify([account, payment.id]), { payment, href });
    }
  }
  return payments.values();
}

const time =
  /^(\d{4}-\d{2}-\d{2})[T ]((?:[01]\d|2[0-3]):\d{2}:\d{2})(?:[.,]\d+)? ?(?:(Z|UTC|GMT)|([+-]\d{2}):?(\d{2})?)?$/i;

/** The month in UTC. A time without a zone is in UTC. */
function monthOf({ id, paid_at }: Payment): string {
  const [, day = "", hour, , hours = "+00", minutes = "00"] = (isText(paid_at) && time.exec(paid_at)) || [];
  const date = new Date(`${day}T${hour}${hours}:${minutes}`);
  const year = date.getUTCFullYear();
  if (!(year >= 1 && year <= 9999 && isDay(day))) throw new Error(`payment ${id}: paid_at can't be read`);
  return date.toISOString().slice(0, 7);
}

function currencyOf({ id, currency }: Payment): string {
  if (!isText(currency)) throw new Error(`payment ${id}: currency can't be read`);
  return currency;
}

/** Documents that were not checked against the endpoint's type may hold anything. */
function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Rejects days such as 30 February, which `Date` reads as 2 March. */
function isDay(day: string): boolean {
  return new Date(day).toISOString().startsWith(day);
}

/** The exact sum of decimals, with as many decimal places as the longest has. */
function sumOf(counted: readonly Counted[], field: "gross" | "net"): string {
  const amounts = counted.map(({ payment }) => partsOf(payment, field));
  const places = Math.max(...amounts.map(({ fraction }) => fraction.length));
  const total = amounts
    .map(({ whole, fraction }) => BigInt(whole + fraction.padEnd(places, "0")))
    .reduce((sum, amount) => sum + amount, 0n);
  const digits = String(total < 0n ? -total : total).padStart(places + 1, "0");
  const whole = `${total < 0n ? "-" : ""}${digits.slice(0, digits.length - places)}`;
  return places === 0 ? whole : `${whole}.${digits.slice(-places)}`;
}

function partsOf(payment: Payment, field: "gross" | "net") {
  const amount = payment[field];
  const [, whole, fraction = ""] = (isText(amount) && /^(-?\d+)(?:\.(\d+))?$/.exec(amount)) || [];
  if (whole === undefined) throw new Error(`payment ${payment.id}: ${field} can't be read`);
  return { whole, fraction };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
