/** Something in an assembly that can't be run here: which resource, what about it, and what to do. */
export type Problem = { readonly logicalId: string; readonly what: string; readonly remedy: string };

/** All that keeps an assembly from running, together, so that a reader fixes it in one go. */
export class UnrunnableAssemblyError extends Error {
  override readonly name = "UnrunnableAssemblyError";
  readonly problems: readonly Problem[];

  constructor(directory: string, problems: readonly Problem[]) {
    const lines = problems.map(({ logicalId, what, remedy }) => `  ${logicalId}: ${what}. ${remedy}`);
    super(`The assembly ${directory} can't be run on this machine:\n${lines.join("\n")}`);
    this.problems = problems;
  }
}

/** A problem met in the middle of planning one resource; the planner gives it the resource's name. */
export class PlanError extends Error {
  override readonly name = "PlanError";
  readonly remedy: string;

  constructor(what: string, remedy: string) {
    super(what);
    this.remedy = remedy;
  }
}

/** A rule of a service, whether a resource breaks it, and what to do then. */
export type Rule = readonly [isBroken: boolean, what: string, remedy: string];

export function brokenRules(logicalId: string, rules: readonly Rule[]): Problem[] {
  return rules.flatMap(([isBroken, what, remedy]) => (isBroken ? [{ logicalId, what, remedy }] : []));
}
