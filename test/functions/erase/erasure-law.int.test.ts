import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameOf } from "../../../domain/event/subjects.ts";
import { History } from "../../../proof/model/erasure/history.ts";
import { holdingsOf } from "../../../proof/model/erasure/holdings.ts";
import { MemoryWorld } from "../../../proof/model/erasure/memory-world.ts";
import { shareOfTier } from "../../support/share-of-tier.ts";
import { historiesOf, withoutErasures } from "../support/erasure-on-engines.ts";

describe("the law of erasure", () => {
  it.each(shareOfTier([500], [100_000]))(
    "is true in %i random histories: nothing is left of the erased, and everything of all others",
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(historiesOf(24), async ({ people, happenings }) => {
          const world = new MemoryWorld();
          const history = new History(world, people);
          await history.play(happenings);
          const users = people.map(({ userId: id }) => ({ kind: "user", id }) as const);
          const asked = people.map((person) => history.asked.has(person));
          const erased = await world.erased(users);
          expect(users.map((user) => erased.has(nameOf(user)))).toEqual(asked);
          if (history.asked.size === 0) return;
          const undisturbed = new MemoryWorld();
          await new History(undisturbed, people).play(happenings, withoutErasures);
          const [left, all] = [await world.pieces(), await undisturbed.pieces()];
          expect(people.map((person) => holdingsOf(person, left))).toEqual(
            people.map((person, index) => (asked[index] ? [] : holdingsOf(person, all))),
          );
        }),
        { numRuns },
      );
    },
  );
});
