import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { z } from "zod";
import { IncomeEventsStack } from "../../lib/income-events-stack.ts";
import { documented, documentedInProduction } from "./stage-settings.ts";

const template = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) }),
  ),
});

export type Resource = {
  readonly id: string;
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
};

/** A stage as CloudFormation would get it. */
export type StageTemplate = { readonly resources: readonly Resource[] };

let synthesized: StageTemplate | undefined;

/** The stage that documents calculate with, synthesized once. */
export function documentedStage(): StageTemplate {
  synthesized ??= synthesizeStage("docs", documented);
  return synthesized;
}

let synthesizedProduction: StageTemplate | undefined;

/** The same stage in production, synthesized once. */
export function productionStage(): StageTemplate {
  synthesizedProduction ??= synthesizeStage("docs", documentedInProduction);
  return synthesizedProduction;
}

/** Synthesizes a stage without the functions' code. */
export function synthesizeStage(stage: string, settings: unknown): StageTemplate {
  const outdir = mkdtempSync(join(tmpdir(), "income-events-docs-"));
  try {
    const app = new App({ outdir, builtinCloudFormationValidation: false });
    const codeOf = () => lambda.Code.fromInline("// without code");
    const stack = new IncomeEventsStack(app, `income-events-${stage}`, {
      stage,
      written: settings,
      where: "the settings",
      codeOf,
    });
    const { Resources } = template.parse(app.synth().getStackByName(stack.stackName).template);
    const resources = Object.entries(Resources).map(([id, { Type, Properties }]) => {
      return { id, type: Type, properties: Properties };
    });
    return { resources };
  } finally {
    rmSync(outdir, { recursive: true });
  }
}

const rule = z.object({
  ScheduleExpression: z.string(),
  Targets: z.array(z.object({ Arn: z.object({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) }) })),
});

/** What is invoked by the clock: the function's logical id, and how often in a month. */
export type Scheduled = { readonly functionId: string; readonly timesAMonth: number };

export const secondsAMonth = 30 * 86_400;
const secondsOf: Readonly<Record<string, number>> = { minute: 60, hour: 3_600, day: 86_400 };

export function scheduledIn(resources: readonly Resource[]): readonly Scheduled[] {
  return resources
    .filter(({ type }) => type === "AWS::Events::Rule")
    .flatMap(({ properties }) => {
      const { ScheduleExpression, Targets } = rule.parse(properties);
      const [, count, unit = ""] = /^rate\((\d+) (\w+?)s?\)$/.exec(ScheduleExpression) ?? [];
      const period = Number(count) * (secondsOf[unit] ?? Number.NaN);
      if (Number.isNaN(period)) throw new Error(`a schedule in an unknown form: ${ScheduleExpression}`);
      return Targets.map(({ Arn }) => ({
        functionId: Arn["Fn::GetAtt"][0],
        timesAMonth: secondsAMonth / period,
      }));
    });
}

/** A logical id without the hash at its end. */
export function nameOfResource(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, "");
}
