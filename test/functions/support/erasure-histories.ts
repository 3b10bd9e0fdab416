import fc from "fast-check";
import { isUuid } from "../../../domain/event/canonical-id.ts";
import { actions, type Happening } from "../../../proof/model/erasure/history.ts";
import { hostileIds } from "../../../proof/model/erasure/people.ts";

const happening = fc.record({
  what: fc.constantFrom(...actions),
  who: fc.nat({ max: 2 }),
  pick: fc.nat({ max: 20 }),
  form: fc.nat({ max: 20 }),
});
const ids = fc.shuffledSubarray(hostileIds, { minLength: 3, maxLength: 3 });
const people = fc
  .tuple(ids, ids)
  // A UUID is one person's: it is searched for under any name.
  .filter(([users, accounts]) => !users.some((id) => isUuid(id) && accounts.includes(id)))
  .map(([users, accounts]) =>
    users.map((userId, index) => ({ userId, accountId: accounts[index] ?? "", mark: `<mark of ${index}>` })),
  );

/** Three people with hostile ids, and what happens to them. */
export function historiesOf(mostHappenings: number) {
  return fc.record({ people, happenings: fc.array(happening, { minLength: 4, maxLength: mostHappenings }) });
}

export function withoutErasures({ what }: Happening): boolean {
  return what.includes("erase");
}
