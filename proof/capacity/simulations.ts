import type { Settings } from "../../lib/settings/settings.ts";
import { type Durations, scenarioOf } from "./scenario.ts";
import { summarize } from "./summarize.ts";

/** How many deliveries, calls and batches an event makes, and how long functions take; measured, see `demands.ts`. */
export type PerEvent = {
  readonly deliveries: number;
  readonly tasks: number;
  readonly shareOfBusiestRoute: number;
  readonly durations: Durations;
};

export type Stage = {
  readonly settings: Settings;
  readonly perEvent: PerEvent;
  /** Of the account. */
  readonly concurrency: number;
};

export type SimulationResult = ReturnType<typeof summarize> & {
  readonly disturbance: { readonly from: number; readonly to: number };
  readonly limitPerMinute: number;
};

/** Half of the account's quota: the receivers and the relay need the rest. */
const roomOf = ({ concurrency, perEvent }: Stage) => ({
  concurrency: Math.max(1, Math.floor(concurrency / 2)),
  shareOfBusiestRoute: perEvent.shareOfBusiestRoute,
});

const before = 300;

export type Burst = { readonly rate: number; readonly factor: number; readonly minutes: number };

/** So many times the usual events for a while, and what comes after it. */
export function simulateBurst(stage: Stage, { rate, factor, minutes }: Burst): SimulationResult {
  const { deliveries, tasks } = stage.perEvent;
  const disturbance = { from: before, to: before + minutes * 60 };
  const isBurst = (seconds: number) => seconds >= disturbance.from && seconds < disturbance.to;
  const waiting = rate * factor * tasks * minutes * 60;
  return simulateStage(stage, disturbance, {
    deliveriesPerSecond: (seconds) => rate * deliveries * (isBurst(seconds) ? factor : 1),
    isProviderDown: () => false,
    seconds: disturbance.to + catchUp(stage, waiting, rate * tasks),
  });
}

export type Outage = { readonly rate: number; readonly hours: number };

/** The provider's API is down while it goes on to announce events, and is up again. */
export function simulateOutage(stage: Stage, { rate, hours }: Outage): SimulationResult {
  const { deliveries, tasks } = stage.perEvent;
  const disturbance = { from: before, to: before + hours * 3_600 };
  const waiting = rate * tasks * hours * 3_600;
  return simulateStage(stage, disturbance, {
    deliveriesPerSecond: () => rate * deliveries,
    isProviderDown: (seconds) => seconds >= disturbance.from && seconds < disturbance.to,
    seconds: disturbance.to + catchUp(stage, waiting, rate * tasks),
  });
}

type Situation = Pick<Parameters<typeof scenarioOf>[3], "deliveriesPerSecond" | "isProviderDown" | "seconds">;

function simulateStage(
  stage: Stage,
  disturbance: SimulationResult["disturbance"],
  situation: Situation,
): SimulationResult {
  const { settings, perEvent } = stage;
  const tasksPerDelivery = perEvent.tasks / perEvent.deliveries;
  const scenario = scenarioOf(settings, perEvent.durations, roomOf(stage), {
    tasksPerDelivery,
    ...situation,
  });
  return {
    ...summarize(scenario, disturbance),
    disturbance,
    limitPerMinute: settings.provider.requestsPerMinute,
  };
}

/** Longer than catching up can take within the rate; where the rate is too low for what comes, a while to see it. */
function catchUp({ settings }: Stage, tasks: number, tasksPerSecond: number): number {
  const spare = (0.9 * settings.provider.requestsPerMinute) / 60 - tasksPerSecond;
  return spare > 0 ? 1_800 + (1.2 * tasks) / spare : 7_200;
}
