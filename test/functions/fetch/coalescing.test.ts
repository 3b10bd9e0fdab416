import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ReadingSimulation } from "../support/reading-simulation.ts";
import type { Call, Mutation } from "../support/reading-table.ts";

/**
 * Calls that an interleaving does not need. A call covers the events that were counted when its task looked at the
 * document. It is needed where one of them is covered by no successful call that began before it: whoever leaves
 * such a call out leaves data that is older than an event. All others are in excess, and the rest is the least.
 */
function excessOf(calls: readonly Call[]): number {
  const isInExcess = ({ noted, begun }: Call) =>
    calls.some((other) => other.begun < begun && other.isSuccessful && other.noted >= noted);
  return calls.filter(isInExcess).length;
}

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

function isUpToDate({ stream, table: { known, stored } }: ReadingSimulation): boolean {
  return stored.data === stream.data && known?.done === known?.wanted;
}

describe("events, repeats, replays, doubled messages, kills, failures and slow calls in any interleaving", () => {
  it.each<[string, Mutation]>([
    ["", "none"],
    [", whatever claims do", "claims hold nobody off"],
  ])(
    "end with data that is not older than the last event, with no task left, and done never falls%s",
    async (_, mutation) => {
      await fc.assert(
        fc.asyncProperty(...simulations, async (events, random) => {
          const { table, stream } = await rest(events, random[Symbol.iterator](), mutation);
          expect(table.stored.data).toBe(stream.data);
          expect(table.known?.done).toBe(table.known?.wanted);
          expect(stream.done).toEqual(stream.done.toSorted((left, right) => left - right));
        }),
        { numRuns: 3_000 },
      );
    },
  );

  it("make the least calls that the interleaving allows, within 5 %", async () => {
    await fc.assert(
      fc.asyncProperty(...simulations, async (events, random) => {
        const { calls } = (await rest(events, random[Symbol.iterator]())).table;
        const excess = excessOf(calls);
        expect(calls.length).toBeLessThanOrEqual(1.05 * (calls.length - excess));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("the laws notice", () => {
  const failing = async (mutation: Mutation, isBroken: (simulation: ReadingSimulation) => boolean) => {
    const { failed } = await fc.check(
      fc.asyncProperty(...simulations, async (events, random) => {
        return !isBroken(await rest(events, random[Symbol.iterator](), mutation));
      }),
      { numRuns: 20_000, seed: 1, endOnFailure: true },
    );
    return failed;
  };

  it("claims that hold nobody off: more calls", async () => {
    expect(await failing("claims hold nobody off", ({ table }) => excessOf(table.calls) > 0)).toBe(true);
  });

  it("refused tasks that are dropped for the claimant to do: data is lost", async () => {
    expect(await failing("refused tasks are dropped", (simulation) => !isUpToDate(simulation))).toBe(true);
  });
});
