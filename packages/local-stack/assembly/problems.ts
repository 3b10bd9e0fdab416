/** Why a resource cannot run here: its logical id, the problem and the remedy. */
export type Problem = { readonly logicalId: string; readonly what: string; readonly remedy: string };

/** Lists every problem that keeps an assembly from running. */
export class UnrunnableAssemblyError extends Error {
  override readonly name = "UnrunnableAssemblyError";
  readonly problems: readonly Problem[];

  constructor(directory: string, problems: readonly Problem[]) {
    const lines = problems.map(({ logicalId, what, remedy }) => `  ${logicalId}: ${what}. ${remedy}`);
    super(`The assembly ${directory} can't be run on this machine:\n${lines.join("\n")}`);
    this.problems = problems;
  }
}

/** A problem found while planning a resource; the planner adds the resource's logical id. */
export class PlanError extends Error {
  override readonly name = "PlanError";
  readonly remedy: string;

  constructor(what: string, remedy: string) {
    super(what);
    this.remedy = remedy;
  }
}

/** A service's rule: whether a resource breaks it, the problem and the remedy. */
export type Rule = readonly [isBroken: boolean, what: string, remedy: string];

export function brokenRules(logicalId: string, rules: readonly Rule[]): Problem[] {
  return rules.flatMap(([isBroken, what, remedy]) => (isBroken ? [{ logicalId, what, remedy }] : []));
}
