import type { SimulationResult } from "./simulations.ts";

/** What a simulation came to: figure and value, for a table. */
export function describeSummary({
  summary,
  disturbance,
  limitPerMinute,
}: SimulationResult): readonly (readonly [string, string])[] {
  const count = (value: number) => value.toLocaleString("en", { maximumSignificantDigits: 4 });
  const after = (seconds: number | undefined) =>
    seconds === undefined ? "never" : `${hoursAndMinutes(seconds - disturbance.to)} after its end`;
  return [
    ["deliveries refused by the throttle at once, at most", count(summary.mostRefused)],
    ["deliveries in the queue, at most", count(summary.mostQueued)],
    ["all deliveries are stored", after(summary.storedAfter)],
    ["tasks that wait for the provider, at most", count(summary.mostTasksWaiting)],
    ["of these in flight, at most", count(summary.mostInFlight)],
    ["calls to the provider meanwhile", count(summary.callsWhileDown)],
    [`calls in the busiest minute, of ${count(limitPerMinute)}`, count(summary.mostCallsPerMinute)],
    ["receipts of a task until it is done, on average", count(summary.receipts / Math.max(1, summary.tasks))],
    ["all that waited is fetched", after(summary.fetchedAfter)],
  ];
}

function hoursAndMinutes(seconds: number): string {
  const minutes = Math.max(0, Math.round(seconds / 60));
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
