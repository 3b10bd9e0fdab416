import type { Series } from "../../../adapters/sqs/queue-metrics.ts";
import type { Traffic } from "../api/overview.ts";

/** Queues that are plotted together. */
export type Line = { readonly name: string; readonly values: readonly number[] };

const groups = [
  ["webhooks", /^(users|accounts|endpoints|company-accounts)$/],
  ["calls to the provider", /^fetch$/],
  ["messages to subscribers", /^subscriber\//],
] as const;

/** The start of each period, in seconds since 1970. */
export function timesOf({ since, until, period }: Traffic): readonly number[] {
  return Array.from(
    { length: Math.max(0, Math.ceil((until - since) / period)) },
    (_, index) => since + index * period,
  );
}

/** The last `seconds` of a traffic. */
export function lastPart({ until, queues, ...traffic }: Traffic, seconds: number): Traffic {
  const since = Math.floor((until - seconds) / traffic.period) * traffic.period;
  const cut = (series: Series) => series.filter(([at]) => at >= since);
  const part = queues.map(({ sent, received, ...queue }) => ({
    ...{ ...queue, sent: cut(sent), received: cut(received) },
  }));
  return { ...traffic, since, until, queues: part };
}

/** Whether a message was sent longer ago than `seconds`. */
export function hasBefore(traffic: Traffic | undefined, seconds: number): boolean {
  if (traffic === undefined) return false;
  const { until, period, queues } = traffic;
  return queues.some(({ sent }) => sent.some(([at, count]) => count > 0 && at + period < until - seconds));
}

/** Messages sent to each group's queues. A period without a value counts as 0. */
export function linesOf(traffic: Traffic): readonly Line[] {
  const times = timesOf(traffic);
  return groups.map(([name, isOf]) => {
    const counts = new Map<number, number>();
    for (const queue of traffic.queues.filter((each) => isOf.test(each.name)))
      for (const [at, count] of queue.sent) counts.set(at, (counts.get(at) ?? 0) + count);
    return { name, values: times.map((at) => counts.get(at) ?? 0) };
  });
}

/** Messages a minute over the last ten whole minutes. */
export function perMinute(series: Series, { until }: Pick<Traffic, "until">): number {
  const from = until - 600;
  const sum = series.reduce((total, [at, count]) => (at >= from ? total + count : total), 0);
  return sum / 10;
}

/** The start of the last period with a message, ISO 8601. */
export function lastOf(series: Series): string | undefined {
  const last = series.findLast(([, count]) => count > 0);
  return last === undefined ? undefined : new Date(last[0] * 1000).toISOString();
}
