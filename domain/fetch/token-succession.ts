import { compareAge, type TokenLifetime } from "./token-lifetime.ts";

/** A version of the token secret. Without a token, it is the placeholder that the deployment created. */
export type TokenVersion = {
  readonly versionId: string;
  readonly token: string | undefined;
  /** The version whose token this one was refreshed from. Absent if an operator set it. */
  readonly replaces?: string;
};

/**
 * Whether a token may replace the current one. A token with older claims never does. One refreshed from the
 * current token does. If the current token has changed since, an operator's token stays; of two concurrent
 * refreshes, the newer token wins.
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
