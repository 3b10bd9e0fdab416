/** When a token was issued and ends, in seconds since 1970; what can't be read is left out. */
export type TokenLife = { readonly issuedAt?: number; readonly expiresAt?: number };

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
export function isRefreshDue(life: TokenLife, now: Date, settings: RefreshSettings): boolean {
  const { issuedAt, expiresAt } = life;
  if (expiresAt === undefined) return true;
  const share = issuedAt === undefined ? 0 : (expiresAt - issuedAt) * settings.marginFraction;
  const least = runsWithinMargin * settings.refreshEveryMinutes * 60 + clockSkewInSeconds;
  return expiresAt - now.getTime() / 1000 <= Math.max(share, least);
}

/** Whether a token can end between two runs, whenever it is refreshed. */
export function isShortLived(
  { issuedAt, expiresAt }: TokenLife,
  { refreshEveryMinutes }: RefreshSettings,
): boolean {
  if (issuedAt === undefined || expiresAt === undefined) return false;
  return expiresAt - issuedAt <= refreshEveryMinutes * 60 + clockSkewInSeconds;
}

/**
 * Which of two tokens is the newer one: by when they were issued, then by when they end.
 * @returns above 0 where it is the first, below 0 where it is the second, 0 where their claims don't tell
 */
export function compareAge(first: TokenLife, second: TokenLife): number {
  return difference(first.issuedAt, second.issuedAt) || difference(first.expiresAt, second.expiresAt);
}

function difference(first: number | undefined, second: number | undefined): number {
  return first === undefined || second === undefined ? 0 : first - second;
}
