import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventPrefix, partitionOf } from "../../../adapters/dynamodb/keys.ts";
import { nameOf } from "../../../domain/event/subjects.ts";
import { actions, History } from "../../../proof/model/erasure/history.ts";
import { hostileIds, type Person } from "../../../proof/model/erasure/people.ts";
import { shareOfTier } from "../../support/share-of-tier.ts";

const someone = fc.nat({ max: 2 });
const happening = fc.record({
  what: fc.constantFrom(...actions),
  who: someone,
  pick: fc.nat({ max: 20 }),
  form: fc.nat({ max: 20 }),
});
const ids = fc.shuffledSubarray(hostileIds, { minLength: 3, maxLength: 3 });
const people = fc
  .tuple(ids, ids)
  .map(([users, accounts]) =>
    users.map((userId, index) => ({ userId, accountId: accounts[index] ?? "", mark: `<mark of ${index}>` })),
  );

describe("the law of erasure", () => {
  it.each(shareOfTier([10_000], [100_000]))(
    "holds in %i random histories: nothing is left of who was erased, and everything of all others",
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(
          people,
          fc.array(happening, { minLength: 4, maxLength: 24 }),
          async (known, happenings) => {
            const history = new History(known);
            await history.play(happenings);
            const undisturbed = new History(known);
            await undisturbed.play(happenings.filter(({ what }) => !what.includes("erase")));
            for (const person of known) {
              const isAsked = history.asked.has(person);
              expect(history.world.isErased({ kind: "user", id: person.userId })).toBe(isAsked);
              expect(remainsOf(person, history)).toEqual(isAsked ? nothing : remainsOf(person, undisturbed));
            }
          },
        ),
        { numRuns },
      );
    },
  );
});

const nothing = { marks: 0, items: [], objects: 0 };

/** How often a person's mark is anywhere, and what is kept under their names; an event may name two of them. */
function remainsOf({ userId, accountId, mark }: Person, { world }: History) {
  const subjects = [
    { kind: "user", id: userId },
    { kind: "account", id: accountId },
  ] as const;
  const partitions = subjects.map(partitionOf);
  const folders = subjects.map((subject) => `data/${nameOf(subject)}/`);
  return {
    marks: world.bytes().split(mark).length - 1,
    items: [...world.items.values()]
      .filter(({ pk, sk }) => partitions.includes(pk) && !sk.startsWith(eventPrefix))
      .map(({ pk, sk }) => `${pk} ${sk}`)
      .toSorted(),
    objects: [...world.objects.keys()].filter((key) => folders.some((folder) => key.startsWith(folder)))
      .length,
  };
}
