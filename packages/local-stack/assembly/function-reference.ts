import { PlanError } from "./problems.ts";
import type { StackScope } from "./stack-scope.ts";

/**
 * The logical id of the function that a name or an ARN stands for.
 * @throws PlanError where it is not a function of the stack
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

/** The older form in which an integration names a function. */
function invocationUri(arn = ""): string {
  const region = arn.split(":")[3] ?? "";
  return `arn:aws:apigateway:${region}:lambda:path/2015-03-31/functions/${arn}/invocations`;
}
