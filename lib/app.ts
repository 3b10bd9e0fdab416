import { join } from "node:path";
import type { App, AppProps } from "aws-cdk-lib";
import { checkStage } from "./construct/own-settings.ts";
import { createBundler } from "./function/bundle.ts";
import type { CodeOf } from "./function/pipeline-function.ts";
import { readSettings } from "./settings/settings.ts";

const repository = join(import.meta.dirname, "..");

/**
 * Synthesizes a stage's stack into a cloud assembly. Context: `stage` names it (default `dev`), `settings` names a file
 * to read instead of `stages/<stage>.json`. Turning off CDK's validation, by the property or with `cdk synth
 * --no-validation`, also turns off the cdk-nag checks; the assembly is the same.
 * @param bundle creates the function bundles, which are disposed of once they are staged
 * @throws SettingsError for an invalid stage name or invalid settings
 */
export async function synthesize(props: AppProps = {}, bundle = () => createBundler(repository)) {
  // A separate process bundles while this one loads CDK.
  const bundling = bundle();
  // Avoids an unhandled rejection; the `await` below reports the error.
  bundling.catch(() => undefined);
  const [{ App }, lambda, { IncomeEventsStack }] = await Promise.all([
    import("aws-cdk-lib"),
    import("aws-cdk-lib/aws-lambda"),
    import("./income-events-stack.ts"),
  ]);
  using bundler = await bundling;
  const app = new App(props);
  const written = settingsOf(app);
  const codeOf: CodeOf = (entry, slice, name) => {
    const { directory, digest } = bundler.codeOf(entry, slice, name);
    return lambda.Code.fromAsset(directory, { assetHash: digest });
  };
  new IncomeEventsStack(app, `income-events-${written.stage}`, { ...written, codeOf });
  if (props.builtinCloudFormationValidation ?? process.env.CDK_VALIDATION !== "false") await check(app);
  return app.synth();
}

/** Adds cdk-nag to CDK's own checks. A finding without an acknowledgement fails the synthesis. */
async function check(app: App): Promise<void> {
  const [{ Validations }, { AwsSolutionsChecks }] = await Promise.all([
    import("aws-cdk-lib"),
    import("cdk-nag"),
  ]);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}

function settingsOf(app: App) {
  const stage = checkStage(app.node.tryGetContext("stage") ?? "dev", "name it with -c stage=NAME");
  const given: unknown = app.node.tryGetContext("settings");
  const where = typeof given === "string" ? given : join(repository, "stages", `${stage}.json`);
  return { stage, where, written: readSettings(stage, where) };
}
