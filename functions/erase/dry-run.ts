import type { StepDependencies } from "./dependencies.ts";

/** What a step works with that counts what it would remove, and removes nothing. */
export function dryRun(dependencies: StepDependencies): StepDependencies {
  const { records, objects, deadLetters, removeGivenUp } = dependencies;
  return {
    ...dependencies,
    records: { ...records, remove: async () => true, forgetLastEvent: async () => undefined },
    objects: { ...objects, remove: async () => undefined, removeBelow: objects.countBelow },
    deadLetters: (secondsLeft) =>
      deadLetters(secondsLeft).map(([queue, places]) => [
        queue,
        places.map(
          (place) => (look) => place(async (found) => ({ done: [], isEnough: (await look(found)).isEnough })),
        ),
      ]),
    removeGivenUp: (isUnwanted) => removeGivenUp(isUnwanted, { isDryRun: true }),
  };
}
