import type { Scenario, SimulationStep } from "./model/simulate.ts";
import { simulate } from "./model/simulate.ts";

/** The system over a while: rates are of that while, all else at its end. */
export type Sample = {
  readonly seconds: number;
  readonly sentPerSecond: number;
  readonly storedPerSecond: number;
  readonly refused: number;
  readonly queued: number;
  readonly storeBatches: number;
  readonly tasksWaiting: number;
  readonly inFlight: number;
  readonly callsPerMinute: number;
};

/** What people ask of a simulation. */
export type Summary = {
  /** Seconds since the beginning at which no delivery waits any more; undefined: never within the simulation. */
  readonly storedAfter: number | undefined;
  /** Likewise for tasks, beyond those that are on their way at any moment. */
  readonly fetchedAfter: number | undefined;
  readonly mostRefused: number;
  readonly mostQueued: number;
  readonly mostStoreBatches: number;
  readonly mostTasksWaiting: number;
  readonly mostInFlight: number;
  readonly callsWhileDown: number;
  readonly mostCallsPerMinute: number;
  /** How often tasks were received, called for or not. */
  readonly receipts: number;
  readonly tasks: number;
};

const samples = 360;

/** @param disturbance when it begins and ends: what waits is asked about after it */
export function summarize(scenario: Scenario, disturbance: { readonly from: number; readonly to: number }) {
  const every = Math.max(1, Math.round(scenario.seconds / samples));
  const perSecond = 1 / (scenario.stepSeconds * scenario.lookEvery);
  const minute = Math.round(60 * perSecond);
  const calls: number[] = [];
  const taken: Sample[] = [];
  let before: SimulationStep | undefined;
  let [storedAfter, fetchedAfter]: (number | undefined)[] = [];
  const most = { refused: 0, queued: 0, batches: 0, tasks: 0, inFlight: 0, calls: 0 };
  let whileDown = 0;
  let usual = 0;
  let last: SimulationStep | undefined;
  for (const step of simulate(scenario)) {
    const { seconds, store, fetch } = step;
    last = step;
    calls.push(fetch.calls);
    const tasksWaiting = fetch.visible + fetch.hidden + fetch.delayed;
    most.refused = Math.max(most.refused, store.refused);
    most.queued = Math.max(most.queued, store.waiting);
    most.batches = Math.max(most.batches, store.batches);
    most.tasks = Math.max(most.tasks, tasksWaiting);
    most.inFlight = Math.max(most.inFlight, fetch.inFlight);
    most.calls = Math.max(most.calls, fetch.calls - (calls.at(-minute - 1) ?? 0));
    if (seconds < disturbance.from) usual = Math.max(usual, tasksWaiting);
    if (seconds >= disturbance.from && seconds < disturbance.to)
      whileDown = fetch.calls - (calls[Math.round(disturbance.from * perSecond)] ?? 0);
    const isOver = seconds >= disturbance.to;
    if (isOver && store.refused + store.waiting <= store.batches * 10) storedAfter ??= seconds;
    if (isOver && storedAfter !== undefined && tasksWaiting <= Math.max(20, 2 * usual))
      fetchedAfter ??= seconds;
    if (seconds >= (before?.seconds ?? -every) + every) {
      taken.push(sampleOf(step, before, tasksWaiting, fetch.calls - (calls.at(-minute - 1) ?? 0)));
      before = step;
    }
  }
  const summary: Summary = {
    storedAfter,
    fetchedAfter,
    mostRefused: most.refused,
    mostQueued: most.queued,
    mostStoreBatches: most.batches,
    mostTasksWaiting: most.tasks,
    mostInFlight: most.inFlight,
    callsWhileDown: whileDown,
    mostCallsPerMinute: most.calls,
    receipts: last?.fetch.receipts ?? 0,
    tasks: last?.tasks ?? 0,
  };
  return { samples: taken, summary };
}

function sampleOf(
  { seconds, store, fetch }: SimulationStep,
  before: SimulationStep | undefined,
  tasksWaiting: number,
  callsPerMinute: number,
): Sample {
  const length = seconds - (before?.seconds ?? 0) || 1;
  return {
    seconds,
    sentPerSecond: (store.sent - (before?.store.sent ?? 0)) / length,
    storedPerSecond: (store.stored - (before?.store.stored ?? 0)) / length,
    refused: store.refused,
    queued: store.waiting,
    storeBatches: store.batches,
    tasksWaiting,
    inFlight: fetch.inFlight,
    callsPerMinute,
  };
}
