import { join } from "node:path";
import { App, type AppProps, Validations } from "aws-cdk-lib";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { VALIDATE_AGAINST_DEFAULT_RULES } from "aws-cdk-lib/cx-api";
import { AwsSolutionsChecks } from "cdk-nag";
import { createBundler } from "./function/bundle.ts";
import { IncomeEventsStack } from "./income-events-stack.ts";
import { loadSettings, SettingsError } from "./settings/settings.ts";

const repository = join(import.meta.dirname, "..");

/**
 * Synthesizes a stage's stack into a cloud assembly. Context: `stage` names it (default `dev`), `settings`
 * names a file to read instead of `stages/<stage>.json`.
 * @throws SettingsError for a wrong stage name or wrong settings
 */
export function synthesize(props: AppProps = {}) {
  const app = new App(props);
  const stage = stageOf(app.node.tryGetContext("stage") ?? "dev");
  const file: unknown = app.node.tryGetContext("settings");
  const settings = loadSettings(
    stage,
    join(repository, "stages"),
    typeof file === "string" ? file : undefined,
  );
  using bundler = createBundler(repository);
  const codeOf = (entry: string, slice: unknown) => lambda.Code.fromAsset(bundler.directoryOf(entry, slice));
  new IncomeEventsStack(app, { stage, settings, codeOf });
  if (isChecked(app)) Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app.synth();
}

/** Beside CDK's own checks, and left out where they are: a finding without a reason ends the synthesis. */
function isChecked(app: App): boolean {
  const context: unknown = app.node.tryGetContext(VALIDATE_AGAINST_DEFAULT_RULES);
  return String(context) !== "false";
}

function stageOf(name: unknown): string {
  if (typeof name === "string" && /^[a-z][a-z0-9-]{0,19}$/.test(name)) return name;
  throw new SettingsError(
    `stage: is ${JSON.stringify(name)}; name it with -c stage=NAME in small letters, digits and "-", at most 20`,
  );
}
