import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { nameOf } from "../../../domain/event/subjects.ts";
import { type Happening, History } from "../../../proof/model/erasure/history.ts";
import { holdingsOf } from "../../../proof/model/erasure/holdings.ts";
import { MemoryWorld } from "../../../proof/model/erasure/memory-world.ts";
import type { Person } from "../../../proof/model/erasure/people.ts";
import { describeOnTables, startTestSystem, type TestSystem } from "../../support/engines.ts";
import { shareOfTier } from "../../support/share-of-tier.ts";
import { EngineWorld, withFuse, withoutGateway } from "../support/engine-world.ts";
import { historiesOf, withoutErasures } from "../support/erasure-histories.ts";

/** Histories that are under way together: most of their time each waits for what is hidden or delayed. */
const atOnce = 30;

await describeOnTables("the law of erasure", (tables) => {
  let system: TestSystem;
  beforeAll(async () => {
    system = withoutGateway(await startTestSystem(tables));
  });
  afterAll(() => system.close());

  it.each(shareOfTier([100], [300]))(
    "holds in %i random histories: nothing is left of who was erased, and everything of all others",
    async (count) => {
      const waiting = fc.sample(historiesOf(12), count).values();
      const play = async () => {
        for (const { people, happenings } of waiting) {
          const found = await withFuse(() => playOnEngines(system, people, happenings));
          const undisturbed = new MemoryWorld();
          await new History(undisturbed, people).play(happenings, withoutErasures);
          const all = await undisturbed.pieces();
          const expected = people.map((person) => ({
            isErased: found.asked.has(person),
            holdings: found.asked.has(person) ? [] : holdingsOf(person, all),
          }));
          expect({ happenings, left: found.left }).toEqual({ happenings, left: expected });
        }
      };
      await Promise.all(Array.from({ length: atOnce }, play));
    },
  );
});

async function playOnEngines(
  system: TestSystem,
  people: readonly Person[],
  happenings: readonly Happening[],
) {
  const world = await EngineWorld.create(system);
  const history = new History(world, people);
  await history.play(happenings);
  const erased = await world.erased(people.map(({ userId: id }) => ({ kind: "user", id })));
  const pieces = await world.pieces();
  const left = people.map((person) => ({
    isErased: erased.has(nameOf({ kind: "user", id: person.userId })),
    holdings: holdingsOf(person, pieces),
  }));
  return { asked: history.asked, left };
}
