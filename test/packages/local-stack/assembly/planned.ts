import type { StackPlan } from "@income-events/local-stack/assembly/plan.ts";
import { planStack } from "@income-events/local-stack/assembly/plan-stack.ts";
import { UnrunnableAssemblyError } from "@income-events/local-stack/assembly/problems.ts";
import { readAssembly } from "@income-events/local-stack/assembly/read-assembly.ts";
import { expect } from "vitest";
import { type AssemblySource, type Resources, writeAssembly } from "../../../support/assembly.ts";

export const handler = "export const handler = async () => null;";

export const place = { region: "eu-central-1", account: "000000000000" };

export async function planned(resources: Resources, more: Partial<AssemblySource> = {}): Promise<StackPlan> {
  await using assembly = await writeAssembly({ resources, assets: { Work: handler }, ...more });
  return planStack(readAssembly(assembly.directory), place);
}

/** "logical id: what" of everything that keeps the resources from running. */
export async function problemsOf(
  resources: Resources,
  more: Partial<AssemblySource> = {},
): Promise<string[]> {
  const error: unknown = await planned(resources, more).catch((reason: unknown) => reason);
  if (!(error instanceof UnrunnableAssemblyError)) throw new Error(`nothing was refused: ${String(error)}`);
  for (const { remedy } of error.problems) expect(remedy).not.toBe("");
  return error.problems.map(({ logicalId, what }) => `${logicalId}: ${what}`);
}
