import { describe, expect, it } from "vitest";
import type { DeadLetter, DeadLetterSource } from "../../../../domain/recovery/dead-letter.ts";
import { findDeadLetters, purgeDeadLetters } from "../../../../packages/cli/dead-letters/redrive.ts";

const deadLetterOf = (messageId: string): DeadLetter => ({
  messageId,
  sentAt: new Date("2026-11-21T12:00:00Z"),
  receives: 1,
  body: messageId,
});

/** A source in memory, which returns two dead letters at a time. */
function sourceOf(deadLetters: DeadLetter[], notRemoved = 0): DeadLetterSource {
  return async (handle) => {
    const seen = [...deadLetters];
    for (let start = 0; start < seen.length; start += 2) {
      const { done, isEnough } = await handle(seen.slice(start, start + 2));
      for (const deadLetter of done) deadLetters.splice(deadLetters.indexOf(deadLetter), 1);
      if (isEnough) break;
    }
    return { notRemoved, mayHaveMore: false };
  };
}

describe("a purge", () => {
  it("finds the selected dead letters, and leaves all of them", async () => {
    const deadLetters = ["a", "b", "c"].map(deadLetterOf);
    expect(await findDeadLetters(sourceOf(deadLetters), ({ body }) => body !== "b")).toEqual(
      new Set(["a", "c"]),
    );
    expect(deadLetters).toHaveLength(3);
  });

  it("takes away those that were found, and nothing that came since", async () => {
    const deadLetters = ["new", "a", "b", "newer"].map(deadLetterOf);
    expect(await purgeDeadLetters(sourceOf(deadLetters), new Set(["a", "b", "gone"]))).toBe(2);
    expect(deadLetters.map(({ messageId }) => messageId)).toEqual(["new", "newer"]);
  });

  it("finds no more than its limit, and reports the result of each", async () => {
    const deadLetters = ["a", "b", "c"].map(deadLetterOf);
    expect(await findDeadLetters(sourceOf(deadLetters), () => true, 1)).toEqual(new Set(["a"]));
    const results: string[] = [];
    await purgeDeadLetters(sourceOf(deadLetters), new Set(["a", "gone"]), ({ id, result }) =>
      results.push(`${id}: ${result}`),
    );
    expect(results).toEqual(["a: deleted", "gone: not there any more, or in the hands of another reader"]);
  });

  it("does not count those that could not be removed", async () => {
    expect(await purgeDeadLetters(sourceOf(["a", "b"].map(deadLetterOf), 1), new Set(["a", "b"]))).toBe(1);
  });
});
