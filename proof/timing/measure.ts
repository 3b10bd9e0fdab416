import { randomBytes, randomInt } from "node:crypto";
import type { Measured } from "./welch.ts";

/** A comparison with a secret, as an attacker meets it: with a text of theirs. */
export type Compare = (presented: string) => boolean;

const wordsAtOnce = 1_000;
/** The first ones are slower: the engine has not compiled the code yet. */
const warmUps = 20_000;

/**
 * Measures a comparison with two classes of wrong texts of the secret's length, in random order: one has all but the
 * secret's last character right, the other is random. Whoever learns from the time how much is right distinguishes
 * them.
 */
export function measure(compare: Compare, secret: string, samples: number): Measured {
  const first: number[] = [];
  const second: number[] = [];
  for (let left = samples + warmUps; left > 0; left -= wordsAtOnce) {
    for (const { text, isClose } of wordsFor(secret)) {
      const began = process.hrtime.bigint();
      compare(text);
      const took = Number(process.hrtime.bigint() - began);
      if (left <= samples) (isClose ? first : second).push(took);
    }
  }
  return { first, second };
}

/** Made before the clock runs, all in the same way, each a text of its own. */
function wordsFor(secret: string): readonly { readonly text: string; readonly isClose: boolean }[] {
  const { length } = secret;
  const close = `${secret.slice(0, -1)}${secret.endsWith("0") ? "1" : "0"}`;
  return Array.from({ length: wordsAtOnce }, () => {
    const isClose = randomInt(2) === 0;
    const random = randomBytes(length).toString("hex").slice(0, length);
    return { text: Buffer.from(isClose ? close : random, "latin1").toString("latin1"), isClose };
  });
}

/** A secret as `secret rotate` makes them, only as long as wanted. */
export function secretOf(length: number): string {
  return randomBytes(length).toString("hex").slice(0, length);
}
