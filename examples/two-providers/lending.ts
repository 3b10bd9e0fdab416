import { IncomeEvents } from "@income-events/cdk";
import { Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";

/** A stack with two pipelines, each with its own provider and resources. */
export class Lending extends Stack {
  constructor(scope: Construct, id: string, { stage, ...props }: StackProps & { readonly stage: string }) {
    super(scope, id, props);
    // The stage names distinguish their messages and commands.
    for (const [name, own] of [
      ["Payroll", `payroll-${stage}`],
      ["Benefits", `benefits-${stage}`],
    ] as const)
      IncomeEvents.fromSettingsFile(this, name, { stage: own, file: `stages/${own}.json` });
  }
}
