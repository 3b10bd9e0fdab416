import { formatDate, formatTimestamp } from "../timestamps.ts";
import { random } from "./random.ts";

/** First and last day of a range, as `2026-11-21`. */
export type Days = { readonly start: string; readonly end: string };

/** A week of work and its pay. Amounts are in cents; gross = trips' fares and tips + bonus. */
export type PayPeriod = ReturnType<typeof payPeriod>;

const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
const openingPeriods = 8;

/** Weeks since 1970 that an account's data covers; each version adds one. */
function weeksOf(createdAt: Date, version: number): readonly number[] {
  const first = Math.floor(createdAt.getTime() / weekMs) - openingPeriods;
  return Array.from({ length: openingPeriods + version - 1 }, (_, index) => first + index);
}

/** First and last day of the periods, without generating their content. */
export function payPeriodRange(createdAt: Date, version: number): Days {
  const weeks = weeksOf(createdAt, version);
  const [first = 0, last = first] = [weeks[0], weeks.at(-1)];
  return { start: firstDay(first), end: lastDay(last) };
}

function firstDay(week: number): string {
  return formatDate(new Date(week * weekMs));
}

function lastDay(week: number): string {
  return formatDate(new Date((week + 1) * weekMs - dayMs));
}

/**
 * Generates an account's pay periods, oldest first. A pure function: later versions have the same periods and
 * newer ones, so data grows but never changes.
 */
export function payPeriods(accountId: string, createdAt: Date, version: number): readonly PayPeriod[] {
  return weeksOf(createdAt, version).map((week) => payPeriod(accountId, week));
}

function payPeriod(accountId: string, week: number) {
  const source = random(accountId, "period", String(week));
  const start = new Date(week * weekMs);
  const trips = Array.from({ length: source.number.int({ min: 3, max: 6 }) }, () => {
    const durationSeconds = source.number.int({ min: 300, max: 5400 });
    const startedAt = start.getTime() + source.number.int({ min: 0, max: weekMs - 5_400_000 });
    return {
      id: source.string.uuid(),
      startedAt: formatTimestamp(new Date(startedAt)),
      endedAt: formatTimestamp(new Date(startedAt + durationSeconds * 1000)),
      distanceMeters: Math.round(durationSeconds * source.number.float({ min: 4, max: 12 })),
      durationSeconds,
      fare: source.number.int({ min: 800, max: 9500 }),
      tip: source.datatype.boolean({ probability: 0.4 }) ? source.number.int({ min: 100, max: 1500 }) : 0,
    };
  }).sort((a, b) => a.startedAt.localeCompare(b.startedAt));
  const bonus = source.datatype.boolean({ probability: 0.3 })
    ? source.number.int({ min: 500, max: 5000 })
    : 0;
  const gross = sum(trips, ({ fare, tip }) => fare + tip) + bonus;
  const fees = Math.round(gross * 0.12);
  const taxes = Math.round(gross * 0.08);
  return {
    id: source.string.uuid(),
    start: firstDay(week),
    end: lastDay(week),
    paidAt: formatTimestamp(new Date(start.getTime() + weekMs + 2 * dayMs)),
    trips,
    bonus,
    gross,
    fees,
    taxes,
    net: gross - fees - taxes,
  };
}

export function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((total, item) => total + amount(item), 0);
}
