/** What a policy's statement says of some principals of the settings. */
type Admission = {
  /** Digits of the accounts that the statement names. */
  readonly accounts: readonly string[];
  /** The roles and users of these accounts that it is for; absent: all. */
  readonly arns?: readonly string[];
};

/** Digits of the account that a principal is, or is in. */
function accountOf(principal: string): string {
  return principal.split(":")[4] ?? principal;
}

/**
 * The principals of a subscriber as policies name them: a role or user by its account and the condition
 * `aws:PrincipalArn`. AWS replaces the ARN of a role in `Principal` with the role's unique id, so that a role that is
 * deleted and made anew is shut out.
 * Source: IAM user guide, "AWS JSON policy elements: Principal", "IAM role principals".
 */
export function admissionsOf(principals: readonly string[]): readonly Admission[] {
  const arns = principals.filter((each) => each.includes("/"));
  const whole = principals.filter((each) => !each.includes("/"));
  return [
    ...(whole.length > 0 ? [{ accounts: accountsOf(whole) }] : []),
    ...(arns.length > 0 ? [{ accounts: accountsOf(arns), arns }] : []),
  ];
}

/** Each account once. */
export function accountsOf(principals: readonly string[]): readonly string[] {
  return [...new Set(principals.map(accountOf))];
}
