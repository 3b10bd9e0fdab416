import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, Stack } from "aws-cdk-lib";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { z } from "zod";
import { IncomeEvents } from "../../lib/construct/income-events.ts";
import { IncomeEventsStack } from "../../lib/income-events-stack.ts";
import { parseSettings, type Settings } from "../../lib/settings/settings.ts";

/** The stage used for documentation and measurements: one subscriber and a way to start fetches. */
export const documented = {
  production: false,
  provider: {
    paths: { start: { path: "/api/v0.4/accounts/{account_id}/fetches", body: { endpoints: "{endpoints}" } } },
  },
  startEndpoints: ["income"],
  subscribers: [{ name: "reader" }],
};
const inProduction = {
  ...documented,
  production: true,
  provider: { ...documented.provider, baseUrls: { sandbox: "https://api.income-provider.com" } },
  alarms: { emails: ["on-call@example.com"] },
};

const withDashboard = { ...inProduction, dashboard: true };
const withAllAlarms = {
  ...inProduction,
  readiness: { endpoints: ["income"] },
  canary: {},
  recovery: { vaultArn: "arn:aws:backup:eu-west-1:210987654321:backup-vault:income-events" },
};

export function documentedSettings(): Settings {
  return parseSettings(documented, "scripts/documents/stage-template.ts");
}

/** A CloudFormation resource. */
export type Resource = {
  readonly id: string;
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
};

const template = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) }),
  ),
});
const synthesized = new Map<object, readonly Resource[]>();

function resourcesOf(settings: object): readonly Resource[] {
  const known = synthesized.get(settings);
  if (known !== undefined) return known;
  const { Resources } = template.parse(templateOf(settings));
  const found = Object.entries(Resources).map(([id, { Type, Properties }]) => {
    return { id, type: Type, properties: Properties };
  });
  synthesized.set(settings, found);
  return found;
}

/** Resources of the documented stage, synthesized once. */
export const documentedStage = () => resourcesOf(documented);
/** The same stage in production with an alarm recipient. */
export const productionStage = () => resourcesOf(inProduction);
export const dashboardStage = () => resourcesOf(withDashboard);
/** The production stage with the settings that add alarms. */
export const alarmedStage = () => resourcesOf(withAllAlarms);

/**
 * CloudFormation template of a stage, without the functions' code.
 * @param constructId of the construct in an app's stack; absent: the stage is its own stack
 * @throws SettingsError if the settings are invalid
 */
export function templateOf(settings: unknown, constructId?: string): unknown {
  const outdir = mkdtempSync(join(tmpdir(), "income-events-template-"));
  try {
    const app = new App({ outdir, builtinCloudFormationValidation: false });
    const codeOf = () => lambda.Code.fromInline("// without code");
    const props = { stage: "recorded", where: "the settings", written: settings, codeOf };
    const stack =
      constructId === undefined ? new IncomeEventsStack(app, "App", props) : new Stack(app, "App");
    if (constructId !== undefined) new IncomeEvents(stack, constructId, props);
    return app.synth().getStackArtifact(stack.artifactId).template;
  } finally {
    rmSync(outdir, { recursive: true });
  }
}
