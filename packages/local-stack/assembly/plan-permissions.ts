import { z } from "zod";
import { type Policy, parsePolicy } from "../iam/policy.ts";
import { functionIdOf } from "./function-reference.ts";
import type { ResourcePolicyPlan } from "./plan.ts";
import { parseProperties } from "./properties.ts";
import type { StackScope } from "./stack-scope.ts";

type Properties = Readonly<Record<string, unknown>>;

const permissionSchema = z.strictObject({
  Action: z.string(),
  FunctionName: z.string(),
  Principal: z.string(),
  SourceAccount: z.string().optional(),
  SourceArn: z.string().optional(),
});

/** A permission is a statement of the function's resource policy. */
export function planPermission(
  logicalId: string,
  properties: Properties,
  scope: StackScope,
): ResourcePolicyPlan {
  const parsed = parseProperties(permissionSchema, properties, scope);
  const arn = scope.attributeText(functionIdOf(parsed.FunctionName, scope), "Arn");
  const isService = parsed.Principal.endsWith(".amazonaws.com");
  const conditions = {
    ...(parsed.SourceArn !== undefined && { ArnLike: { "aws:SourceArn": parsed.SourceArn } }),
    ...(parsed.SourceAccount !== undefined && {
      StringEquals: { "aws:SourceAccount": parsed.SourceAccount },
    }),
  };
  const policy = parsePolicy(
    {
      Version: "2012-10-17",
      Statement: [
        {
          Sid: logicalId,
          Effect: "Allow",
          Action: parsed.Action,
          Resource: arn,
          Principal: isService ? { Service: parsed.Principal } : { AWS: parsed.Principal },
          ...(Object.keys(conditions).length > 0 && { Condition: conditions }),
        },
      ],
    },
    logicalId,
  );
  return { arn, policy };
}

/** Merges the statements of policies on one resource. */
export function mergePolicies(plans: readonly ResourcePolicyPlan[]): ResourcePolicyPlan[] {
  const merged = new Map<string, Policy>();
  for (const { arn, policy } of plans) {
    const before = merged.get(arn);
    merged.set(arn, {
      where: before === undefined ? policy.where : `${before.where}, ${policy.where}`,
      statements: [...(before?.statements ?? []), ...policy.statements],
    });
  }
  return [...merged].map(([arn, policy]) => ({ arn, policy }));
}
