import type { DeadLetter, DeadLetterPlace } from "../../domain/recovery/dead-letter.ts";

/** The ids of the dead letters that are wanted. They stay where they lie. */
export async function findDeadLetters(
  place: DeadLetterPlace,
  isWanted: (deadLetter: DeadLetter) => boolean,
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  await place(async (deadLetters) => {
    for (const deadLetter of deadLetters.filter(isWanted)) ids.add(deadLetter.messageId);
    return { done: [], isEnough: false };
  });
  return ids;
}

/** Takes away those dead letters, and nothing that came since. @returns how many are gone */
export async function purgeDeadLetters(place: DeadLetterPlace, ids: ReadonlySet<string>): Promise<number> {
  let found = 0;
  const { notTaken } = await place(async (deadLetters) => {
    const done = deadLetters.filter(({ messageId }) => ids.has(messageId));
    found += done.length;
    return { done, isEnough: found === ids.size };
  });
  return found - notTaken;
}
