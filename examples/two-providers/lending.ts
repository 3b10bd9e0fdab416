import { IncomeEvents } from "@income-events/cdk";
import { Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";

/** A stack with two pipelines: each has a provider, and all of its own resources. */
export class Lending extends Stack {
  constructor(scope: Construct, id: string, { stage, ...props }: StackProps & { readonly stage: string }) {
    super(scope, id, props);
    // Messages and commands tell them apart by these names of stages.
    for (const [name, own] of [
      ["Payroll", `payroll-${stage}`],
      ["Benefits", `benefits-${stage}`],
    ] as const)
      IncomeEvents.fromSettingsFile(this, name, { stage: own, file: `stages/${own}.json` });
  }
}
