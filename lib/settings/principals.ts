/** Principals of one statement of a policy. */
type Admission = {
  /** Ids of the accounts that the statement names. */
  readonly accounts: readonly string[];
  /** Roles and users of these accounts that the statement is limited to; absent: the whole accounts. */
  readonly arns?: readonly string[];
};

/** Id of the account that a principal is, or belongs to. */
function accountOf(principal: string): string {
  return principal.split(":")[4] ?? principal;
}

/**
 * Principals of a subscriber in the form of policies: a role or user is its account with the condition
 * `aws:PrincipalArn`. AWS replaces the ARN of a role in `Principal` with the role's unique id, which would exclude a
 * role that is deleted and created again.
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

/** Ids of the principals' accounts, without duplicates. */
export function accountsOf(principals: readonly string[]): readonly string[] {
  return [...new Set(principals.map(accountOf))];
}
