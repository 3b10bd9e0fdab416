/** Sums of a metric by the beginning of their period, in milliseconds since 1970; periods without a value are absent. */
export type Sums = ReadonlyMap<number, number>;

/** What the receivers' metrics say. */
export type ReceivingCounts = {
  /** Webhooks that were answered with 429 or 5xx, though another try might go well, by the minute. */
  readonly unanswered: Sums;
  /** Webhooks that came and were not refused, by half a gap. */
  readonly accepted: Sums;
};

/** A time in which webhooks may have been lost: the provider tries three times, and then no more. ISO 8601. */
export type Missed = { readonly from: string; readonly until: string };

/** How lost webhooks are noticed. */
export type MissedSettings = {
  /** Between the beginnings of two runs that lost webhooks lead to. */
  readonly atMostEveryMinutes: number;
  /** A time without webhooks that is noticed where the day and the week before had some. */
  readonly gapMinutes: number;
  /** What CloudWatch counts together: a minute, less where the stage divides its durations. */
  readonly minuteInMillis: number;
};

/** Fewer failures lose no event: each is tried so often. */
const triesOfProvider = 3;
/** Without a failure for so many minutes the receivers work again. Metrics are that late as well. */
const settledMinutes = 2;
/** Trouble that lasts longer leads to a run before it is over. */
const longestTroubleMinutes = 60;
/** A gap is one where as many webhooks came in the same time of the day and of the week before. */
const usualInGap = 10;
const dayInMinutes = 1_440;
const weekInMinutes = 7 * dayInMinutes;

/** The length of the periods by which accepted webhooks are counted. */
export function halfGapInMillis({ gapMinutes, minuteInMillis }: MissedSettings): number {
  return Math.max(1, Math.round((gapMinutes * 60_000) / 2 / minuteInMillis)) * minuteInMillis;
}

/** From when on counts are needed: what was accepted a week before the earliest time that is considered. */
export function countsNeededFrom(now: number, { minuteInMillis }: MissedSettings): number {
  return now - (weekInMinutes + 2 * dayInMinutes) * minuteInMillis;
}

/**
 * The time since the last run in which webhooks may have been lost, once it is over: a run that begins earlier would miss
 * what is lost after it.
 * @param since the end of what an earlier run has made up for, in milliseconds since 1970
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

/** The periods without a webhook, two in a row at least, where the same time of the day and the week before had some. */
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
  const [first] = gaps;
  const latest = gaps.at(-1);
  if (first === undefined || latest === undefined) return undefined;
  const until = latest + 2 * period;
  const isOpen = ![...accepted].some(([at, count]) => at >= until && count > 0);
  return { from: first, until, isOpen };
}
