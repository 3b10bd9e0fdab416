import { startDynamoDb } from "@income-events/local-stack/engines/dynamodb.ts";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isUuid, nameOf } from "../../../domain/event/subjects.ts";
import { actions, type Happening, History } from "../../../proof/model/erasure/history.ts";
import { hostileIds } from "../../../proof/model/erasure/people.ts";
import { holdingsOf } from "../../../proof/model/erasure/world.ts";
import { fastEngine, startTestSystem, type TestSystem } from "../../support/engines.ts";
import { EngineWorld, withFuse, withoutGateway } from "./engine-world.ts";
import { createErasureFixture, type ErasureFixture } from "./erasing.ts";

/** Number of concurrent histories: while one waits for an engine, others run. */
const atOnce = 10;

/**
 * @param tables URL of the table engine; undefined: a fast one for this file, because many histories at once
 * slow an engine down for others
 * @param part selects different histories
 */
export function holdsOnEngines(
  tables: string | undefined,
  counts: readonly number[],
  { part = 0, mostHappenings = 12 } = {},
): void {
  let system: TestSystem;
  const own = new AsyncDisposableStack();
  const startOwn = async () => {
    const engine = await startDynamoDb({ engine: await fastEngine() });
    own.defer(() => engine.close());
    return engine.url;
  };
  beforeAll(async () => {
    system = withoutGateway(await startTestSystem(tables ?? (await startOwn())));
    own.defer(() => system.close());
  });
  afterAll(() => own.disposeAsync());

  it.each(counts)(
    "is true in %i random histories: nothing is left of the erased, and everything of all others",
    async (count) => {
      const seed = Number(fc.readConfigureGlobal().seed ?? 1) + 1_000 * part;
      const waiting = fc.sample(historiesOf(mostHappenings), { numRuns: count, seed }).values();
      const playInTurn = async () => {
        const fixture = await createErasureFixture(system);
        for (const history of waiting) await play(system, fixture, history);
      };
      await Promise.all(Array.from({ length: atOnce }, playInTurn));
    },
  );
}

type Played = ReturnType<typeof historiesOf> extends fc.Arbitrary<infer History> ? History : never;

async function play(system: TestSystem, fixture: ErasureFixture, history: Played): Promise<void> {
  const { people, happenings } = history;
  const playIn = (without?: typeof isErasure) =>
    withFuse(() => playOnEngines(new EngineWorld(system, fixture), history, without));
  const { asked, left } = await playIn();
  const undisturbed = await playIn(isErasure);
  const expected = people.map((person, index) => ({
    isErased: asked.has(person),
    holdings: asked.has(person) ? [] : undisturbed.left[index]?.holdings,
  }));
  expect({ happenings, left }).toEqual({ happenings, left: expected });
}

async function playOnEngines(world: EngineWorld, { people, happenings }: Played, without?: typeof isErasure) {
  const history = new History(world, people);
  await history.play(happenings, without);
  const erased = await world.erased(people.map(({ userId: id }) => ({ kind: "user", id })));
  const pieces = await world.pieces();
  const left = people.map((person) => ({
    isErased: erased.has(nameOf({ kind: "user", id: person.userId })),
    holdings: holdingsOf(person, pieces),
  }));
  return { asked: history.asked, left };
}

const happening = fc.record({
  what: fc.constantFrom(...actions),
  who: fc.nat({ max: 2 }),
  pick: fc.nat({ max: 20 }),
  form: fc.nat({ max: 20 }),
});
const ids = fc.shuffledSubarray(hostileIds, { minLength: 3, maxLength: 3 });
const people = fc
  .tuple(ids, ids)
  // A UUID belongs to one person: it is searched for under any name.
  .filter(([users, accounts]) => !users.some((id) => isUuid(id) && accounts.includes(id)))
  .map(([users, accounts]) =>
    users.map((userId, index) => ({ userId, accountId: accounts[index] ?? "", mark: `<mark of ${index}>` })),
  );

/** Three people with hostile ids, and their histories: in each, an erasure begins while others go on. */
function historiesOf(mostHappenings: number) {
  const some = fc.array(happening, { minLength: 2, maxLength: Math.floor(mostHappenings / 2) });
  const erasure = happening.map((each) => ({ ...each, what: "erase" as const }));
  const begun = fc.array(
    happening.map((each) => ({ ...each, pick: 0, what: "erase step" as const })),
    { maxLength: 6 },
  );
  const happenings = fc.tuple(some, erasure, begun, some).map(([before, erase, ...after]) => {
    return [...before, erase, ...after.flat()];
  });
  return fc.record({ people, happenings });
}

function isErasure({ what }: Happening): boolean {
  return what.includes("erase");
}
