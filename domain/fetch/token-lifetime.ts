/** When a token was issued and ends, in seconds since 1970; what can't be read is left out. */
export type TokenLifetime = { readonly issuedAt?: number; readonly expiresAt?: number };

export type RefreshSettings = {
  /** Share of the lifetime that is left when the token is refreshed, 0 to 1. */
  readonly marginFraction: number;
  /** The schedule of runs. */
  readonly refreshEveryMinutes: number;
};

/** The provider's clock may be this far from ours, in either direction. */
const clockSkewInSeconds = 300;

/** At least so many runs lie between the margin and the token's end: two of them may fail. */
const runsWithinMargin = 3;

/**
 * Whether a token is to be refreshed now: what is left of it is within the margin, a share of its lifetime, or what
 * three runs and the clocks' skew need, where that is more. Without an end that can be read: on every run.
 */
export function isRefreshDue(lifetime: TokenLifetime, now: Date, settings: RefreshSettings): boolean {
  const remaining = remainingInSeconds(lifetime, now);
  return remaining === undefined || remaining <= marginInSeconds(lifetime, settings);
}

/**
 * Whether so little is left of a token that refreshes of it must have failed: half of the margin is gone, and two runs
 * at least have seen it due.
 */
export function isNearEnd(lifetime: TokenLifetime, now: Date, settings: RefreshSettings): boolean {
  const remaining = remainingInSeconds(lifetime, now);
  if (remaining === undefined) return false;
  const dueFrom = dueFromInSeconds(lifetime, settings);
  return remaining <= dueFrom / 2 && dueFrom - remaining > 2 * settings.refreshEveryMinutes * 60;
}

/** Whether at most half of the margin is left of a token. Without an end that can be read: always. */
export function isHalfMarginGone(lifetime: TokenLifetime, now: Date, settings: RefreshSettings): boolean {
  const remaining = remainingInSeconds(lifetime, now);
  return remaining === undefined || remaining <= dueFromInSeconds(lifetime, settings) / 2;
}

/** The margin, or the whole lifetime where that is shorter. */
function dueFromInSeconds(lifetime: TokenLifetime, settings: RefreshSettings): number {
  const { issuedAt, expiresAt } = lifetime;
  const span = issuedAt === undefined || expiresAt === undefined ? Infinity : expiresAt - issuedAt;
  return Math.min(span, marginInSeconds(lifetime, settings));
}

/** What is left of a token's lifetime, below 0 where it has ended; undefined where its end can't be read. */
export function remainingInSeconds({ expiresAt }: TokenLifetime, now: Date): number | undefined {
  return expiresAt === undefined ? undefined : expiresAt - now.getTime() / 1000;
}

function marginInSeconds({ issuedAt, expiresAt }: TokenLifetime, settings: RefreshSettings): number {
  const isKnown = issuedAt !== undefined && expiresAt !== undefined;
  const share = isKnown ? (expiresAt - issuedAt) * settings.marginFraction : 0;
  const least = runsWithinMargin * settings.refreshEveryMinutes * 60 + clockSkewInSeconds;
  return Math.max(share, least);
}

/** Whether a token can end between two runs, whenever it is refreshed. */
export function isShortLived(
  { issuedAt, expiresAt }: TokenLifetime,
  { refreshEveryMinutes }: RefreshSettings,
): boolean {
  if (issuedAt === undefined || expiresAt === undefined) return false;
  return expiresAt - issuedAt <= refreshEveryMinutes * 60 + clockSkewInSeconds;
}

/**
 * Which of two tokens is the newer one: by when they were issued, then by when they end.
 * @returns above 0 where it is the first, below 0 where it is the second, 0 where their claims don't report
 */
export function compareAge(first: TokenLifetime, second: TokenLifetime): number {
  return difference(first.issuedAt, second.issuedAt) || difference(first.expiresAt, second.expiresAt);
}

function difference(first: number | undefined, second: number | undefined): number {
  return first === undefined || second === undefined ? 0 : first - second;
}
