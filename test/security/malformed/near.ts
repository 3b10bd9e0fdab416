import fc from "fast-check";
import { expect } from "vitest";
import { FailureError } from "../../../domain/core/failures.ts";
import { anyCharacter } from "../../support/any-character.ts";

const anyText = fc.string({ unit: anyCharacter, maxLength: 12 });

/** Texts close to a seed: cut, with words and other texts inserted; and any text at all. */
export function near(seeds: readonly string[], words: readonly string[]): fc.Arbitrary<string> {
  const put = fc.oneof(fc.constantFrom(...words), anyText);
  const edit = fc.record({ at: fc.nat(300), cut: fc.nat(8), put });
  const edited = fc.tuple(fc.constantFrom(...seeds), fc.array(edit, { maxLength: 3 })).map(([seed, edits]) =>
    edits.reduce((text, { at, cut, put }) => {
      const begin = at % (text.length + 1);
      return text.slice(0, begin) + put + text.slice(begin + cut);
    }, seed),
  );
  return fc.oneof(
    { weight: 9, arbitrary: edited },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter }) },
  );
}

/**
 * Runs code that may only fail with our own error, whose reason is on one line.
 * @returns undefined if it failed
 */
export async function failsAsSaid<T>(act: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    expect(error.failure.reason).toMatch(/^[^\p{Cc}\p{Zl}\p{Zp}]+$/u);
    return undefined;
  }
}

/** No input of a law adds a property to the prototypes of objects. */
export function expectCleanPrototypes(): void {
  for (const name in {}) expect.fail(`Object.prototype has ${name}`);
  expect(Object.getOwnPropertyNames(Object.prototype).toSorted()).toEqual(ownNames);
}
const ownNames = Object.getOwnPropertyNames(Object.prototype).toSorted();
