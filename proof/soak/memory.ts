import type { LocalFunction } from "@income-events/local-stack/stack.ts";
import { linearRegression } from "simple-statistics";

/** What a function's code could still reach, in bytes, when so many events of its session were through. */
export type Sample = { readonly events: number; readonly bytes: number };
export type Samples = Readonly<Record<string, readonly Sample[]>>;

/** A system's functions, by the beginnings of their logical ids. */
type Functions = { readonly function: (name: string) => Pick<LocalFunction, "measureMemory" | "memoryMb"> };

/** On the way of an event, by the beginnings of their logical ids. */
const names = [
  "UsersReceive",
  "AccountsReceive",
  "EndpointsReceive",
  "UsersStore",
  "AccountsStore",
  "EndpointsStore",
  "RelayChanges",
  "FetchData",
] as const;

/**
 * Asks each function's process what lives in it. What it takes of the machine says less: a heap is enlarged by steps for
 * as long as collecting it is put off, and what is called seldom takes hours to reach its height.
 * @throws where one has taken more than its template gives it: Lambda would have ended it
 */
export async function takeSamples(running: Functions, events: number, before: Samples): Promise<Samples> {
  const taken = names.map(async (name) => {
    const { measureMemory, memoryMb } = running.function(name);
    const [held] = await measureMemory();
    // It has not been called yet, or was ended.
    if (held === undefined) return [name, before[name] ?? []] as const;
    const megabytes = Math.ceil(held.maxResidentBytes / 2 ** 20);
    if (megabytes > memoryMb)
      throw new Error(`${name} took ${megabytes} MB, and its template gives ${memoryMb}`);
    return [name, [...(before[name] ?? []), { events, bytes: held.liveBytes }]] as const;
  });
  return Object.fromEntries(await Promise.all(taken));
}

/** Caches fill and code is compiled to begin with: a session's first half says nothing. */
const warmShare = 0.5;
const fewestSamples = 10;
/** What still settles may rise so much over the rest of a session: some 15 bytes for each of 50,000 events. */
const toleratedShare = 0.05;
/** Two-sided 95 % of Student's t, for so many samples or more. */
const t95 = 2.4;

/**
 * Which functions' memory grows: where the slope over the second half of a session is above 0 at 95 %, and rises by more
 * than a twentieth of what lived in it. Few samples say nothing.
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
export function isAssessable(samples: Samples): boolean {
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
