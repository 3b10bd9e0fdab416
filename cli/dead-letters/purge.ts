import type { DeadLetter, LetterPlace } from "../../domain/recovery/dead-letter.ts";

/** The ids of the letters that are wanted. They stay where they lie. */
export async function findLetters(
  place: LetterPlace,
  isWanted: (letter: DeadLetter) => boolean,
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  await place(async (letters) => {
    for (const letter of letters.filter(isWanted)) ids.add(letter.messageId);
    return { done: [], isEnough: false };
  });
  return ids;
}

/** Takes away those letters, and nothing that came since. @returns how many are gone */
export async function purgeLetters(place: LetterPlace, ids: ReadonlySet<string>): Promise<number> {
  let found = 0;
  const { notTaken } = await place(async (letters) => {
    const done = letters.filter(({ messageId }) => ids.has(messageId));
    found += done.length;
    return { done, isEnough: found === ids.size };
  });
  return found - notTaken;
}
