import { z } from "zod";
import { noValue, resolveValue, type Scope } from "./intrinsics.ts";
import { PlanError } from "./problems.ts";
import type { StackScope } from "./stack-scope.ts";

export type Properties = Readonly<Record<string, unknown>>;

/**
 * Plans one resource.
 * @throws PlanError if it cannot run here
 */
export type Planner<Plan> = (logicalId: string, properties: Properties, scope: StackScope) => Plan;

/** Templates may hold numbers and booleans as strings, for example from parameters. */
export const number = z.coerce.number();
export const boolean = z.union([z.boolean(), z.enum(["true", "false"]).transform((text) => text === "true")]);

/**
 * Resolves and parses a resource's properties.
 * @param schema a strict object: unknown properties are refused
 * @param ignored properties without an effect on this machine, left unresolved
 * @throws PlanError naming the invalid properties
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

/**
 * Logical id of the function with a name or an ARN.
 * @throws PlanError if the stack has no such function
 */
export function functionIdOf(nameOrArn: string, scope: StackScope): string {
  for (const [logicalId, { Type }] of scope.resources) {
    if (Type !== "AWS::Lambda::Function") continue;
    const { ref, attributes } = scope.identity(logicalId);
    if (nameOrArn === ref || nameOrArn === attributes.Arn || nameOrArn === invocationUri(attributes.Arn)) {
      return logicalId;
    }
  }
  throw new PlanError(
    `it is for ${nameOrArn}, which is not a function of the stack`,
    "Name a function of the stack, without version or alias.",
  );
}

/** The older form of an integration's function ARN. */
function invocationUri(arn = ""): string {
  const region = arn.split(":")[3] ?? "";
  return `arn:aws:apigateway:${region}:lambda:path/2015-03-31/functions/${arn}/invocations`;
}
