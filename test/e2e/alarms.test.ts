import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWorld, type World } from "../../proof/alarms/alarm-stack.ts";
import { type Outcome, tripAll, untripped } from "../../proof/alarms/run.ts";
import { trips } from "../../proof/alarms/scenarios.ts";

describe("each alarm of the synthesized stack, on this machine", () => {
  let world: World;
  let outcomes: readonly Outcome[];

  beforeAll(async () => {
    world = await startWorld(undefined, () => undefined);
    outcomes = await tripAll(world, trips, () => undefined);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  it("has a trip, and each trip an alarm", () => {
    expect(untripped(world.stack.alarmPlans, trips)).toEqual([]);
    expect(world.stack.alarmPlans).toHaveLength(trips.length);
  });

  it.each(trips.map(({ entry }) => entry))(
    "goes off where its condition is made, and not before: %s",
    (entry) => {
      const outcome = outcomes.find(({ trip }) => trip.entry === entry);
      expect(outcome?.state).toBe("raised");
      expect(outcome?.alarm.actions).toHaveLength(1);
      const [latest] = outcome?.values ?? [];
      expect(latest).toBeGreaterThanOrEqual(outcome?.alarm.threshold ?? Number.NaN);
    },
  );
});
