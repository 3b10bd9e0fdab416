import fc from "fast-check";
import { comeToRest } from "./laws.ts";
import { documents } from "./provider.ts";
import { deliver, pass, usual } from "./simulation.ts";
import { World } from "./world.ts";

/** What happens a while after the one before it: a document changes, and its event comes, or comes again. */
const happening = fc.record({
  afterMillis: fc.nat({ max: 10_000 }),
  document: fc.nat({ max: 2 }),
  isStrong: fc.boolean(),
  isAgain: fc.boolean(),
});

/**
 * A time in which nothing goes wrong: each of three documents changes every 15 seconds on average, while each step of the
 * pipeline takes some time.
 */
export const undisturbedTimes = fc.tuple(
  fc.integer({ min: 10, max: 400 }),
  fc.array(happening, { minLength: 60, maxLength: 60 }),
);

type Happening = {
  readonly afterMillis: number;
  readonly document: number;
  readonly isStrong: boolean;
  readonly isAgain: boolean;
};

/** Lives such a time through. @throws where a law is broken */
export function liveUndisturbed([stepMillis, happened]: readonly [number, readonly Happening[]]): World {
  const world = new World();
  for (const { afterMillis, document, isStrong, isAgain } of happened) {
    workUntil(world, world.now + afterMillis, stepMillis);
    const known = isAgain ? world.provider.webhooks.at(-1 - document) : undefined;
    const name = documents[document];
    if (known !== undefined) deliver(world, known);
    else if (name !== undefined) {
      world.provider.change(name, world.provider.contentOf(name).version);
      world.provider.announce(name, isStrong, world.isoTime);
    }
  }
  comeToRest(world);
  return world;
}

function workUntil(world: World, end: number, stepMillis: number): void {
  while (world.now < end) {
    const [action] = usual(world);
    pass(world, Math.min(end - world.now, action === undefined ? end - world.now : stepMillis));
    action?.run();
  }
}
