/** Sums of a metric by start of period, in milliseconds since 1970. Periods without a value are absent. */
export type Sums = ReadonlyMap<number, number>;

/** Counts from the receivers' metrics. */
export type ReceivingCounts = {
  /** Webhooks answered with 429 or 5xx, which a retry may fix, per minute. */
  readonly unanswered: Sums;
  /** Accepted webhooks, per half gap. */
  readonly accepted: Sums;
};

/** A period in which webhooks may have been lost, after the provider's three tries. ISO 8601. */
export type Missed = { readonly from: string; readonly until: string };

export type MissedSettings = {
  /** Minimum time between the starts of two runs caused by lost webhooks. */
  readonly atMostEveryMinutes: number;
  /** A time without webhooks that counts as a gap if the day and the week before had some. */
  readonly gapMinutes: number;
  /** CloudWatch's period: a minute, or less if the stage scales its durations down. */
  readonly minuteInMillis: number;
};

/** Fewer failures can't lose an event, because the provider tries each one this often. */
const triesOfProvider = 3;
/** After this many minutes without a failure the receivers work again. Metrics are delayed as long. */
const settledMinutes = 2;
/** A longer failure triggers a run before it ends. */
const longestTroubleMinutes = 60;
/** Minimum webhooks at the same time of the day and the week before for a silence to count as a gap. */
const usualInGap = 10;
const dayInMinutes = 1_440;
const weekInMinutes = 7 * dayInMinutes;

/** Length of the periods in which accepted webhooks are counted. */
export function halfGapInMillis({ gapMinutes, minuteInMillis }: MissedSettings): number {
  return Math.max(1, Math.round((gapMinutes * 60_000) / 2 / minuteInMillis)) * minuteInMillis;
}

/** Start of the counts that are needed: one week before the earliest time that is checked. */
export function countsNeededFrom(now: number, { minuteInMillis }: MissedSettings): number {
  return now - (weekInMinutes + 2 * dayInMinutes) * minuteInMillis;
}

/**
 * Finds the time since the last run in which webhooks may have been lost. Returns it only after it has ended,
 * because an earlier run would miss later losses, or once it lasts too long.
 * @param since end of the period that an earlier run covered, in milliseconds since 1970
 */
export function findMissed(
  counts: ReceivingCounts,
  since: number,
  now: number,
  settings: MissedSettings,
): Missed | undefined {
  const { minuteInMillis } = settings;
  const begin = Math.max(since, now - dayInMinutes * minuteInMillis);
  const failures = failedBetween(counts.unanswered, begin, minuteInMillis);
  const gap = gapBetween(counts.accepted, begin, now, settings);
  const times = [failures, gap].filter((each) => each !== undefined);
  if (times.length === 0) return undefined;
  const from = Math.min(...times.map((each) => each.from));
  const until = Math.max(...times.map((each) => each.until));
  const works = failures === undefined || failures.until + settledMinutes * minuteInMillis <= now;
  const isOver = works && gap?.isOpen !== true;
  if (!isOver && from + longestTroubleMinutes * minuteInMillis > now) return undefined;
  return { from: new Date(from).toISOString(), until: new Date(Math.min(until, now)).toISOString() };
}

type Time = { readonly from: number; readonly until: number };

function failedBetween(unanswered: Sums, begin: number, period: number): Time | undefined {
  const failed = [...unanswered].filter(([at, count]) => at >= begin && count > 0);
  if (failed.reduce((sum, [, count]) => sum + count, 0) < triesOfProvider) return undefined;
  const times = failed.map(([at]) => at);
  return { from: Math.min(...times), until: Math.max(...times) + period };
}

/** The periods without webhooks, at least two in a row, in which the day and the week before had some. */
function gapBetween(
  accepted: Sums,
  begin: number,
  now: number,
  settings: MissedSettings,
): (Time & { readonly isOpen: boolean }) | undefined {
  const { minuteInMillis } = settings;
  const period = halfGapInMillis(settings);
  const countsIn = (from: number) => (accepted.get(from) ?? 0) + (accepted.get(from + period) ?? 0);
  const isGap = (from: number) =>
    countsIn(from) === 0 &&
    [dayInMinutes, weekInMinutes].every((before) => {
      const then = Math.floor((from - before * minuteInMillis) / period) * period;
      return countsIn(then) >= usualInGap;
    });
  const gaps: number[] = [];
  const last = now - settledMinutes * minuteInMillis - 2 * period;
  for (let from = Math.ceil(begin / period) * period; from <= last; from += period)
    if (isGap(from)) gaps.push(from);
  if (gaps.length === 0) return undefined;
  const until = Math.max(...gaps) + 2 * period;
  const isOpen = ![...accepted].some(([at, count]) => at >= until && count > 0);
  return { from: Math.min(...gaps), until, isOpen };
}
