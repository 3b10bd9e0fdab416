import { z } from "zod";
import { parseSchedule } from "../schedules/next-time.ts";
import { functionIdOf } from "./function-reference.ts";
import type { RulePlan } from "./plan.ts";
import { type Planner, parseProperties } from "./properties.ts";

const ruleSchema = z.strictObject({
  Name: z.string().optional(),
  ScheduleExpression: z.string({ error: "(an event pattern is not a schedule that can run here)" }),
  State: z.enum(["ENABLED", "DISABLED"]).default("ENABLED"),
  Targets: z
    .array(
      z.strictObject({
        Arn: z.string(),
        Id: z.string(),
        Input: z.string().optional(),
        DeadLetterConfig: z.unknown().optional(),
        RetryPolicy: z.unknown().optional(),
      }),
    )
    .default([]),
});

/** A rule with a schedule. What a target says about failed delivery has no effect: delivery can't fail here. */
export const planRule: Planner<RulePlan> = (logicalId, properties, scope) => {
  const rule = parseProperties(ruleSchema, properties, scope, ["Description", "EventBusName", "Tags"]);
  parseSchedule(rule.ScheduleExpression);
  return {
    logicalId,
    name: scope.name(logicalId),
    arn: scope.attributeText(logicalId, "Arn"),
    enabled: rule.State === "ENABLED",
    expression: rule.ScheduleExpression,
    targets: rule.Targets.map(({ Arn, Input }) => ({ function: functionIdOf(Arn, scope), input: Input })),
  };
};
