import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Mutation, ReadingSimulation } from "../support/reading-simulation.ts";

async function rest(
  events: number,
  random: Iterator<number>,
  mutation?: Mutation,
): Promise<ReadingSimulation> {
  const simulation = new ReadingSimulation(events, random, mutation);
  await simulation.run();
  return simulation;
}

const simulations = [fc.integer({ min: 1, max: 6 }), fc.noBias(fc.infiniteStream(fc.nat()))] as const;

const isUpToDate = ({ storedData, data }: ReadingSimulation) => storedData === data;
const isRising = ({ asOfs }: ReadingSimulation) =>
  asOfs.every((asOf, index) => index === 0 || asOf > (asOfs[index - 1] ?? 0));

describe("events, doubled messages, lost locks, kills, failures and lost answers in any interleaving", () => {
  it("end with a document that is not older than the last event, with no task left, and asOf never falls", async () => {
    await fc.assert(
      fc.asyncProperty(...simulations, async (events, random) => {
        const simulation = await rest(events, random[Symbol.iterator]());
        expect(simulation.storedData).toBe(simulation.data);
        expect(isRising(simulation)).toBe(true);
      }),
      { numRuns: 1_500 },
    );
  });

  it("make no call for messages that a call which is stored has covered", async () => {
    await fc.assert(
      fc.asyncProperty(...simulations, async (events, random) => {
        const { calls } = await rest(events, random[Symbol.iterator]());
        expect(calls.every(({ isNeeded }) => isNeeded)).toBe(true);
        // Nothing but a disaster costs a call: of each there are three at most.
        expect(calls.filter(({ isAccepted }) => !isAccepted).length).toBeLessThanOrEqual(15);
      }),
      { numRuns: 1_500 },
    );
  });
});

describe("the laws notice", () => {
  it.each<[Mutation, (simulation: ReadingSimulation) => boolean]>([
    ["any write is accepted", (simulation) => isUpToDate(simulation) && isRising(simulation)],
    ["lost writes count", isUpToDate],
    ["a clock is an hour ahead", isUpToDate],
  ])("where %s", async (mutation, holds) => {
    const { failed } = await fc.check(
      fc.asyncProperty(...simulations, async (events, random) => {
        return holds(await rest(events, random[Symbol.iterator](), mutation));
      }),
      { numRuns: 10_000, seed: 1, endOnFailure: true },
    );
    expect(failed).toBe(true);
  });
});
