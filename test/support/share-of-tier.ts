import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    proof: boolean;
  }
}

/**
 * Cases of a test that runs in `npm test` and, with more cases or another engine, in `npm run proof`.
 * @param quick cases of `npm test`
 * @param rest cases of `npm run proof`
 */
export function shareOfTier<Case>(quick: readonly Case[], rest: readonly Case[]): readonly Case[] {
  return inject("proof") ? rest : quick;
}
