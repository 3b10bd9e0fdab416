import { z } from "zod";
import { noValue, resolveValue, type Scope } from "./intrinsics.ts";
import { PlanError } from "./problems.ts";
import type { StackScope } from "./stack-scope.ts";

/** A resource's properties as its template has them. */
export type Properties = Readonly<Record<string, unknown>>;

/** Plans one resource. @throws PlanError where it can't run here */
export type Planner<Plan> = (logicalId: string, properties: Properties, scope: StackScope) => Plan;

/** Numbers and booleans may be strings in a template, above all where a parameter stands behind them. */
export const number = z.coerce.number();
export const boolean = z.union([z.boolean(), z.enum(["true", "false"]).transform((text) => text === "true")]);

/**
 * Resolves and parses a resource's properties.
 * @param schema a strict object: what it does not name is refused
 * @param ignored properties without an effect on this machine; they are not even resolved
 * @throws PlanError naming the properties that don't fit
 */
export function parseProperties<T>(
  schema: z.ZodType<T>,
  properties: Properties,
  scope: Scope,
  ignored: readonly string[] = [],
): T {
  const kept = Object.entries(properties).filter(([name]) => !ignored.includes(name));
  const resolved = kept
    .map(([name, value]) => [name, resolveValue(value, scope)] as const)
    .filter(([, value]) => value !== noValue);
  const parsed = schema.safeParse(Object.fromEntries(resolved));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ message, path }) => `${path.join(".")} ${message}`.trim());
  throw new PlanError(
    `its properties can't be kept here: ${issues.join("; ")}`,
    "Set them otherwise, or teach them to packages/local-stack/assembly/.",
  );
}
