/**
 * Whether a token is to be refreshed now: less than a share of its lifetime is left. Where its end or its start
 * can't be read, it is refreshed on every run.
 * @param marginFraction share of the lifetime, 0 to 1
 */
export function isRefreshDue(
  life: { readonly issuedAt?: number; readonly expiresAt?: number },
  now: Date,
  marginFraction: number,
): boolean {
  const { issuedAt, expiresAt } = life;
  if (issuedAt === undefined || expiresAt === undefined) return true;
  return expiresAt - now.getTime() / 1000 <= (expiresAt - issuedAt) * marginFraction;
}
