import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    tier: "integration" | "proof";
  }
}

/**
 * The cases of a test whose file runs in both tiers.
 * @param quick guard the behaviour in `npm test`
 * @param rest are too many or too slow for that: `npm run test:proof` runs them
 */
export function shareOfTier<Case>(quick: readonly Case[], rest: readonly Case[]): readonly Case[] {
  return inject("tier") === "proof" ? rest : quick;
}
