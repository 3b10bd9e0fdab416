import type { Settings } from "../../lib/settings/settings.ts";
import { type Durations, scenarioOf } from "./scenario.ts";
import { runStory } from "./summarize.ts";

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

export type Told = ReturnType<typeof runStory> & {
  readonly trouble: { readonly from: number; readonly to: number };
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
export function tellBurst(stage: Stage, { rate, factor, minutes }: Burst): Told {
  const { deliveries, tasks } = stage.perEvent;
  const trouble = { from: before, to: before + minutes * 60 };
  const isBurst = (seconds: number) => seconds >= trouble.from && seconds < trouble.to;
  const waiting = rate * factor * tasks * minutes * 60;
  return tell(stage, trouble, {
    deliveriesPerSecond: (seconds) => rate * deliveries * (isBurst(seconds) ? factor : 1),
    isProviderDown: () => false,
    seconds: trouble.to + catchUp(stage, waiting, rate * tasks),
  });
}

export type Outage = { readonly rate: number; readonly hours: number };

/** The provider's API is down while it goes on to tell of events, and is up again. */
export function tellOutage(stage: Stage, { rate, hours }: Outage): Told {
  const { deliveries, tasks } = stage.perEvent;
  const trouble = { from: before, to: before + hours * 3_600 };
  const waiting = rate * tasks * hours * 3_600;
  return tell(stage, trouble, {
    deliveriesPerSecond: () => rate * deliveries,
    isProviderDown: (seconds) => seconds >= trouble.from && seconds < trouble.to,
    seconds: trouble.to + catchUp(stage, waiting, rate * tasks),
  });
}

type Happening = Pick<Parameters<typeof scenarioOf>[3], "deliveriesPerSecond" | "isProviderDown" | "seconds">;

function tell(stage: Stage, trouble: Told["trouble"], happening: Happening): Told {
  const { settings, perEvent } = stage;
  const tasksPerDelivery = perEvent.tasks / perEvent.deliveries;
  const scenario = scenarioOf(settings, perEvent.durations, roomOf(stage), {
    tasksPerDelivery,
    ...happening,
  });
  return { ...runStory(scenario, trouble), trouble, limitPerMinute: settings.provider.requestsPerMinute };
}

/** Longer than catching up can take within the rate; where the rate is too low for what comes, a while to see it. */
function catchUp({ settings }: Stage, tasks: number, tasksPerSecond: number): number {
  const spare = (0.9 * settings.provider.requestsPerMinute) / 60 - tasksPerSecond;
  return spare > 0 ? 1_800 + (1.2 * tasks) / spare : 7_200;
}
