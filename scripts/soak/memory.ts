import { linearRegression } from "simple-statistics";
import type { RunningSide } from "../../bench/drive/running-side.ts";

/** The most memory, in bytes, that a function's process has held when so many events of its session were through. */
export type Sample = { readonly events: number; readonly bytes: number };
export type Samples = Readonly<Record<string, readonly Sample[]>>;

/** On the way of an event, by the beginnings of their logical ids, with an event that makes them do nothing. */
const probes: Readonly<Record<string, string>> = {
  UsersReceive: JSON.stringify({ headers: {}, requestContext: { http: { method: "GET" } } }),
  AccountsReceive: JSON.stringify({ headers: {}, requestContext: { http: { method: "GET" } } }),
  EndpointsReceive: JSON.stringify({ headers: {}, requestContext: { http: { method: "GET" } } }),
  UsersStore: '{"Records":[]}',
  AccountsStore: '{"Records":[]}',
  EndpointsStore: '{"Records":[]}',
  RelayChanges: '{"Records":[]}',
  FetchData: '{"Records":[]}',
};

/** Asks each function's process what it has held. @throws where one does not answer */
export async function takeSamples(running: RunningSide, events: number, before: Samples): Promise<Samples> {
  const samples: Record<string, readonly Sample[]> = { ...before };
  for (const [name, event] of Object.entries(probes)) {
    const outcome = await running.function(name).invoke(event);
    if (outcome.kind !== "returned" || outcome.usage === undefined) {
      throw new Error(`${name} tells nothing of its memory: ${JSON.stringify(outcome)}`);
    }
    samples[name] = [...(before[name] ?? []), { events, bytes: outcome.usage.maxResidentBytes }];
  }
  return samples;
}

/**
 * Engines fill their heaps to begin with: a session's first part says nothing, and neither does a short session. What
 * is called most has filled its heap after 6,000 events; what is called seldom still climbs after 17,000.
 */
const warmShare = 0.5;
const fewestSamples = 25;
/** What is left of noise may rise so much over the rest of a session. */
const toleratedShare = 0.1;
/** Two-sided 95 % of Student's t, for so many samples or more. */
const t95 = 2.4;

/**
 * Which functions' memory grows: where the slope over the second half of a session is above 0 at 95 %, and rises by a
 * tenth or more of what was held. Few samples say nothing.
 */
export function growing(samples: Samples): readonly string[] {
  return Object.entries(samples).flatMap(([name, all]) => {
    const rest = all.slice(Math.floor(all.length * warmShare));
    if (rest.length < fewestSamples) return [];
    const { slope, error } = slopeOf(rest);
    const [first, last] = [rest[0], rest.at(-1)];
    const rise = slope * ((last?.events ?? 0) - (first?.events ?? 0));
    const isCertain = slope - t95 * error > 0;
    return isCertain && rise > toleratedShare * (first?.bytes ?? 0) ? [name] : [];
  });
}

/** Whether a session was long enough to say anything. */
export function isJudged(samples: Samples): boolean {
  return Object.values(samples).every(({ length }) => length * (1 - warmShare) >= fewestSamples);
}

function slopeOf(samples: readonly Sample[]): { readonly slope: number; readonly error: number } {
  const points = samples.map(({ events, bytes }) => [events, bytes]);
  const { m: slope, b } = linearRegression(points);
  const meanEvents = samples.reduce((sum, { events }) => sum + events, 0) / samples.length;
  const left = samples.reduce((sum, { events, bytes }) => sum + (bytes - (b + slope * events)) ** 2, 0);
  const spread = samples.reduce((sum, { events }) => sum + (events - meanEvents) ** 2, 0);
  return { slope, error: Math.sqrt(left / (samples.length - 2) / spread) };
}
