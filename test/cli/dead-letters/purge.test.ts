import { describe, expect, it } from "vitest";
import { findLetters, purgeLetters } from "../../../cli/dead-letters/purge.ts";
import type { DeadLetter, LetterPlace } from "../../../domain/recovery/dead-letter.ts";

const letterOf = (messageId: string): DeadLetter => ({
  messageId,
  sentAt: new Date("2026-11-21T12:00:00Z"),
  receives: 1,
  body: messageId,
});

/** A place in memory, which shows two letters at a time. */
function placeOf(letters: DeadLetter[], notTaken = 0): LetterPlace {
  return async (look) => {
    const seen = [...letters];
    for (let start = 0; start < seen.length; start += 2) {
      const { done, isEnough } = await look(seen.slice(start, start + 2));
      for (const letter of done) letters.splice(letters.indexOf(letter), 1);
      if (isEnough) break;
    }
    return { notTaken };
  };
}

describe("a purge", () => {
  it("finds the letters that are wanted, and leaves all of them", async () => {
    const letters = ["a", "b", "c"].map(letterOf);
    expect(await findLetters(placeOf(letters), ({ body }) => body !== "b")).toEqual(new Set(["a", "c"]));
    expect(letters).toHaveLength(3);
  });

  it("takes away those that were found, and nothing that came since", async () => {
    const letters = ["new", "a", "b", "newer"].map(letterOf);
    expect(await purgeLetters(placeOf(letters), new Set(["a", "b", "gone"]))).toBe(2);
    expect(letters.map(({ messageId }) => messageId)).toEqual(["new", "newer"]);
  });

  it("does not count what could not be taken away", async () => {
    expect(await purgeLetters(placeOf(["a", "b"].map(letterOf), 1), new Set(["a", "b"]))).toBe(1);
  });
});
