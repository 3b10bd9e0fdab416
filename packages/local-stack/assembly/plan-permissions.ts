import { z } from "zod";
import { type Policy, parsePolicy } from "../iam/policy.ts";
import type { ResourcePolicyPlan } from "./plan.ts";
import { boolean, functionIdOf, type Planner, parseProperties } from "./properties.ts";
import type { StackScope } from "./stack-scope.ts";

const permissionSchema = z.strictObject({
  Action: z.string(),
  FunctionName: z.string(),
  FunctionUrlAuthType: z.literal("AWS_IAM").optional(),
  InvokedViaFunctionUrl: boolean.optional(),
  Principal: z.string(),
  SourceAccount: z.string().optional(),
  SourceArn: z.string().optional(),
});

/** Plans a permission as a statement of the function's resource policy. */
export const planPermission: Planner<ResourcePolicyPlan> = (logicalId, properties, scope) => {
  const parsed = parseProperties(permissionSchema, properties, scope);
  const arn = isAlias(parsed.FunctionName, scope)
    ? parsed.FunctionName
    : scope.attribute(functionIdOf(parsed.FunctionName, scope), "Arn");
  const isService = parsed.Principal.endsWith(".amazonaws.com");
  const equal = present({
    "aws:SourceAccount": parsed.SourceAccount,
    "lambda:FunctionUrlAuthType": parsed.FunctionUrlAuthType,
  });
  const conditions = {
    ...(parsed.SourceArn !== undefined && { ArnLike: { "aws:SourceArn": parsed.SourceArn } }),
    ...(Object.keys(equal).length > 0 && { StringEquals: equal }),
    ...(parsed.InvokedViaFunctionUrl !== undefined && {
      Bool: { "lambda:InvokedViaFunctionUrl": parsed.InvokedViaFunctionUrl },
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
};

function isAlias(arn: string, scope: StackScope): boolean {
  return [...scope.resources].some(
    ([id, { Type }]) => Type === "AWS::Lambda::Alias" && scope.identity(id).ref === arn,
  );
}

function present(fields: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

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
