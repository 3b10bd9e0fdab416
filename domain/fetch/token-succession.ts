import { compareAge, type TokenLifetime } from "./token-lifetime.ts";

/** A version of the token secret; without a token it is the placeholder that the deployment made. */
export type TokenVersion = {
  readonly versionId: string;
  readonly token: string | undefined;
  /** The version whose token this one was refreshed from. What an operator set has none. */
  readonly replaces?: string;
};

/**
 * Whether a token may take the current one's place. Never one that is older by its claims. A token that was refreshed
 * from the current one does. Where the current one has changed since, an operator's stays, and of two that were
 * refreshed at once the newer one wins.
 */
export function succeeds(
  next: Omit<TokenVersion, "versionId">,
  current: TokenVersion,
  readLifetime: (token: string) => TokenLifetime,
): boolean {
  if (next.token === undefined || current.token === undefined || next.token === current.token) return false;
  const age = compareAge(readLifetime(next.token), readLifetime(current.token));
  if (age < 0) return false;
  if (next.replaces === current.versionId) return true;
  const isSetByHand = current.replaces === undefined && next.replaces !== undefined;
  return age > 0 && !isSetByHand;
}
