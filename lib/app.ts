import { join } from "node:path";
import type { App, AppProps } from "aws-cdk-lib";
import { createBundler } from "./function/bundle.ts";
import { loadSettings, SettingsError } from "./settings/settings.ts";

const repository = join(import.meta.dirname, "..");

/**
 * Synthesizes a stage's stack into a cloud assembly. Context: `stage` names it (default `dev`), `settings`
 * names a file to read instead of `stages/<stage>.json`. Whoever turns off CDK's own validation, by the property or as
 * `cdk synth --no-validation` does, turns off the checks of cdk-nag with it: the assembly is the same.
 * @throws SettingsError for a wrong stage name or wrong settings
 */
export async function synthesize(props: AppProps = {}) {
  // Bundled by a process of its own, while this one loads CDK.
  const bundling = createBundler(repository);
  // Whoever waits for it below learns of it.
  bundling.catch(() => undefined);
  const [{ App }, lambda, { IncomeEventsStack }] = await Promise.all([
    import("aws-cdk-lib"),
    import("aws-cdk-lib/aws-lambda"),
    import("./income-events-stack.ts"),
  ]);
  using bundler = await bundling;
  const app = new App(props);
  const { stage, settings } = settingsOf(app);
  const codeOf = (entry: string, slice: unknown) => {
    const { directory, digest } = bundler.codeOf(entry, slice);
    return lambda.Code.fromAsset(directory, { assetHash: digest });
  };
  new IncomeEventsStack(app, { stage, settings, codeOf });
  if (props.builtinCloudFormationValidation ?? process.env.CDK_VALIDATION !== "false") await check(app);
  return app.synth();
}

/** Beside CDK's own checks: a finding without a reason ends the synthesis. */
async function check(app: App): Promise<void> {
  const [{ Validations }, { AwsSolutionsChecks }] = await Promise.all([
    import("aws-cdk-lib"),
    import("cdk-nag"),
  ]);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}

function settingsOf(app: App) {
  const stage = stageOf(app.node.tryGetContext("stage") ?? "dev");
  const file: unknown = app.node.tryGetContext("settings");
  const settings = loadSettings(
    stage,
    join(repository, "stages"),
    typeof file === "string" ? file : undefined,
  );
  return { stage, settings };
}

function stageOf(name: unknown): string {
  if (typeof name === "string" && /^[a-z][a-z0-9-]{0,19}$/.test(name)) return name;
  throw new SettingsError(
    `stage: is ${JSON.stringify(name)}; name it with -c stage=NAME in lower-case letters, digits and "-", at most 20`,
  );
}
