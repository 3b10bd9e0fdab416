import { permanent } from "../core/failures.ts";
import { fieldsOf } from "../core/parse.ts";
import type { TokenVersion } from "./token.ts";

/** Maximum size of a token in bytes. A longer text is not a token. */
export const maxTokenBytes = 16_384;

/** Whether a text has the form of a token: visible ASCII without spaces. The provider validates it. */
export function hasTokenForm(text: string): boolean {
  return text.length <= maxTokenBytes && /^[\x21-\x7e]+$/.test(text);
}

/** When a token was issued and expires, in seconds since 1970. Unreadable values are absent. */
export type TokenLifetime = { readonly issuedAt?: number; readonly expiresAt?: number };

export type RefreshSettings = {
  /** Refresh the token when this share of its lifetime is left, 0 to 1. */
  readonly marginFraction: number;
  /** Interval between scheduled runs. */
  readonly refreshEveryMinutes: number;
};

/** Maximum difference between the provider's clock and ours, in either direction. */
const clockSkewInSeconds = 300;

/** The margin before expiry holds at least this many runs, so that two may fail. */
const runsWithinMargin = 3;

/**
 * Whether to refresh a token now: its remaining time is within the margin. The margin is a share of the
 * lifetime, or the time for three runs plus clock skew if that is longer. True if the expiry is unknown.
 */
export function isRefreshDue(lifetime: TokenLifetime, now: Date, settings: RefreshSettings): boolean {
  const remaining = remainingInSeconds(lifetime, now);
  return remaining === undefined || remaining <= marginInSeconds(lifetime, settings);
}

/** Whether refreshes must have failed: half of the margin is gone and at least two runs were due. */
export function isNearEnd(lifetime: TokenLifetime, now: Date, settings: RefreshSettings): boolean {
  const remaining = remainingInSeconds(lifetime, now);
  if (remaining === undefined) return false;
  const dueFrom = dueFromInSeconds(lifetime, settings);
  return remaining <= dueFrom / 2 && dueFrom - remaining > 2 * settings.refreshEveryMinutes * 60;
}

/** Whether at most half of the margin is left. True if the expiry is unknown. */
export function isHalfMarginGone(lifetime: TokenLifetime, now: Date, settings: RefreshSettings): boolean {
  const remaining = remainingInSeconds(lifetime, now);
  return remaining === undefined || remaining <= dueFromInSeconds(lifetime, settings) / 2;
}

/** The margin, or the whole lifetime if that is shorter. */
function dueFromInSeconds(lifetime: TokenLifetime, settings: RefreshSettings): number {
  const { issuedAt, expiresAt } = lifetime;
  const span = issuedAt === undefined || expiresAt === undefined ? Infinity : expiresAt - issuedAt;
  return Math.min(span, marginInSeconds(lifetime, settings));
}

/** Remaining lifetime of a token in seconds, negative after expiry; undefined if the expiry is unknown. */
export function remainingInSeconds({ expiresAt }: TokenLifetime, now: Date): number | undefined {
  return expiresAt === undefined ? undefined : expiresAt - now.getTime() / 1000;
}

function marginInSeconds({ issuedAt, expiresAt }: TokenLifetime, settings: RefreshSettings): number {
  const isKnown = issuedAt !== undefined && expiresAt !== undefined;
  const share = isKnown ? (expiresAt - issuedAt) * settings.marginFraction : 0;
  const least = runsWithinMargin * settings.refreshEveryMinutes * 60 + clockSkewInSeconds;
  return Math.max(share, least);
}

/** Whether a token can expire between two runs, whenever it is refreshed. */
export function isShortLived(
  { issuedAt, expiresAt }: TokenLifetime,
  { refreshEveryMinutes }: RefreshSettings,
): boolean {
  if (issuedAt === undefined || expiresAt === undefined) return false;
  return expiresAt - issuedAt <= refreshEveryMinutes * 60 + clockSkewInSeconds;
}

/**
 * Compares two tokens by issue time, then by expiry.
 * @returns above 0 if the first is newer, below 0 if the second is, 0 if their claims do not tell
 */
export function compareAge(first: TokenLifetime, second: TokenLifetime): number {
  return difference(first.issuedAt, second.issuedAt) || difference(first.expiresAt, second.expiresAt);
}

function difference(first: number | undefined, second: number | undefined): number {
  return first === undefined || second === undefined ? 0 : first - second;
}

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

export const refreshOutcomes = [
  "refreshed",
  "kept",
  "unchanged",
  "discarded",
  "overtaken",
  "refused",
  "missing",
  "unproven",
  "paced",
] as const;
export type RefreshOutcome = (typeof refreshOutcomes)[number];

/** Parses `{"outcome": …}`, which the refresher returns to its invoker. @throws permanent failure */
export function parseRefreshOutcome(value: unknown): RefreshOutcome {
  const { outcome } = fieldsOf(value, "the refresh");
  const found = refreshOutcomes.find((each) => each === outcome);
  if (found === undefined) throw permanent("the refresh has an outcome that this release does not know");
  return found;
}
