import { setTimeout as wait } from "node:timers/promises";
import type { AlarmPlan } from "@income-events/local-stack/assembly/plan.ts";
import type { World } from "./alarm-stack.ts";
import type { Trip } from "./scenario.ts";

/** What came of a trip. */
export type Outcome = {
  readonly trip: Trip;
  readonly alarm: AlarmPlan;
  readonly state: "raised" | "was on before" | "not raised";
  /** What it is judged by, the latest period first. */
  readonly values: readonly (number | undefined)[];
  /** From the making of the condition to the alarm. */
  readonly seconds: number;
};

const patienceInMs = 120_000;
/** The longest period of such an alarm, and a minute. */
const longestSlownessInMs = 360_000;
const lookedAtEveryMs = 500;
/** What takes a minute is gone on with now and then. */
const longLookedAtEveryMs = 5_000;

/** The alarms of a stack that no trip raises, by their entries. */
export function untripped(alarms: readonly AlarmPlan[], trips: readonly Trip[]): readonly string[] {
  return alarms.map(entryOf).filter((entry) => !trips.some((trip) => trip.entry === entry));
}

export function entryOf({ description }: AlarmPlan): string {
  return /docs\/runbook\.md#([a-z-]+)/.exec(description)?.[1] ?? "";
}

/** Makes each condition in turn, and waits for its alarm; @throws for a trip without an alarm */
export async function tripAll(
  world: World,
  trips: readonly Trip[],
  tell: (outcome: Outcome) => void,
): Promise<readonly Outcome[]> {
  const outcomes: Promise<Outcome>[] = [];
  for (const trip of trips) {
    if (trip.isAfterOthers === true) await Promise.all(outcomes);
    const outcome = tripOne(world, trip).then((came) => {
      tell(came);
      return came;
    });
    outcomes.push(outcome);
    if (trip.isAwaitedLater !== true) await outcome;
    // Those that come later have begun before the next one does.
    else await Promise.race([outcome, wait(2 * lookedAtEveryMs)]);
  }
  return Promise.all(outcomes);
}

async function tripOne(world: World, trip: Trip): Promise<Outcome> {
  const { stack } = world;
  const alarm = stack.alarmPlans.find((each) => entryOf(each) === trip.entry);
  if (alarm === undefined) throw new Error(`There is no alarm of the entry ${trip.entry}`);
  const isOn = async () =>
    (await stack.lookAtAlarms()).some((each) => each.logicalId === alarm.logicalId && each.state === "ALARM");
  const values = () => stack.alarmValues(alarm.logicalId);
  await trip.prepare?.(world);
  const latest = Date.now() + longestSlownessInMs;
  while (trip.isOfSlowness === true && Date.now() < latest && (await isOn())) await wait(longLookedAtEveryMs);
  if (await isOn()) return { trip, alarm, state: "was on before", values: values(), seconds: 0 };
  const began = Date.now();
  const end = await trip.make(world);
  try {
    while (Date.now() - began < patienceInMs) {
      await trip.goOn?.(world);
      const seconds = (Date.now() - began) / 1_000;
      if (await isOn()) return { trip, alarm, state: "raised", values: values(), seconds };
      await wait(trip.isLong === true ? longLookedAtEveryMs : lookedAtEveryMs);
    }
    return { trip, alarm, state: "not raised", values: values(), seconds: patienceInMs / 1_000 };
  } finally {
    await end();
  }
}
