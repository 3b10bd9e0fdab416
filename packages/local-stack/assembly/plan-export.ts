import { referencesIn, resolveValue } from "./intrinsics.ts";
import { PlanError } from "./problems.ts";
import type { StackScope } from "./stack-scope.ts";

/**
 * Export name of an output. Source: CloudFormation user guide, "Outputs".
 * @throws PlanError if CloudFormation would refuse it
 */
export function planExport(name: unknown, scope: StackScope): string {
  const resource = referencesIn(name).find((id) => scope.resources.has(id));
  if (resource !== undefined) {
    throw new PlanError(
      `the name of its export depends on the resource ${resource}`,
      "Make it of texts, parameters and pseudo parameters.",
    );
  }
  const resolved = String(resolveValue(name, scope));
  if (/^[A-Za-z0-9:-]{1,255}$/.test(resolved)) return resolved;
  throw new PlanError(
    `CloudFormation takes no export of the name ${resolved}`,
    'Make it of letters, digits, ":" and "-", at most 255.',
  );
}
