import { z } from "zod";
import { functionIdOf } from "./function-reference.ts";
import type { UrlPlan } from "./plan.ts";
import { parseProperties } from "./properties.ts";
import type { StackScope } from "./stack-scope.ts";

const urlSchema = z.strictObject({
  AuthType: z.literal("AWS_IAM"),
  InvokeMode: z.enum(["BUFFERED", "RESPONSE_STREAM"]).default("BUFFERED"),
  TargetFunctionArn: z.string(),
});

/** The address of a function for callers whom IAM knows; one that is open to all is refused. */
export function planUrl(
  logicalId: string,
  properties: Readonly<Record<string, unknown>>,
  scope: StackScope,
): UrlPlan {
  const parsed = parseProperties(urlSchema, properties, scope);
  return {
    logicalId,
    url: scope.attributeText(logicalId, "FunctionUrl"),
    function: functionIdOf(parsed.TargetFunctionArn, scope),
    streams: parsed.InvokeMode === "RESPONSE_STREAM",
  };
}
