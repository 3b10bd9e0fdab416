import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { App, type AppProps, type Environment, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { z } from "zod";
import { IncomeEvents, type PipelineOptions } from "../../lib/construct/income-events.ts";
import type { CodeOf } from "../../lib/function/pipeline-function.ts";
import { IncomeEventsStack } from "../../lib/income-events-stack.ts";

const resource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
  DependsOn: z
    .union([z.array(z.string()), z.string().transform((id) => [id])])
    .default([])
    .readonly(),
});
const template = z.object({
  Parameters: z.record(z.string(), z.record(z.string(), z.unknown())),
  Resources: z.record(z.string(), resource),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown(), Description: z.string() })),
});

export type Resource = z.output<typeof resource> & { readonly id: string };

/** A stack as CloudFormation gets it, and the settings in each function's bundle. */
export type Synthesized = {
  readonly name: string;
  readonly terminationProtection: boolean;
  readonly text: string;
  readonly parameters: z.output<typeof template>["Parameters"];
  readonly outputs: z.output<typeof template>["Outputs"];
  readonly resources: readonly Resource[];
  readonly ofType: (type: string) => readonly Resource[];
  readonly withId: (prefix: string) => Resource;
  /** Settings by function, as it is named in logs. */
  readonly bundles: ReadonlyMap<string, unknown>;
};

const known = new Map<string, Synthesized>();

/**
 * Synthesizes a stage with stand-in code: bundles have their own tests. Files of a process share results for
 * the same settings.
 */
export function synthesized(settings: unknown, stage = "test"): Synthesized {
  const key = JSON.stringify([stage, settings]);
  // JSON cannot represent some values, such as `undefined`.
  if (!isDeepStrictEqual(JSON.parse(key), [stage, settings])) return synthesizeAnew(settings, stage);
  const made = known.get(key) ?? synthesizeAnew(settings, stage);
  known.set(key, made);
  return made;
}

function synthesizeAnew(settings: unknown, stage: string): Synthesized {
  const outdir = mkdtempSync(join(tmpdir(), "income-events-assembly-"));
  try {
    return read(settings, stage, outdir);
  } finally {
    rmSync(outdir, { recursive: true });
  }
}

function read(settings: unknown, stage: string, outdir: string): Synthesized {
  const app = quickApp({ outdir });
  const bundles = new Map<string, unknown>();
  const codeOf: CodeOf = (_, slice, name) => {
    bundles.set(name, JSON.parse(JSON.stringify(slice)));
    return lambda.Code.fromInline("// stand-in");
  };
  new IncomeEventsStack(app, `income-events-${stage}`, {
    stage,
    written: settings,
    where: "test settings",
    codeOf,
  });
  const artifact = app.synth().getStackByName(`income-events-${stage}`);
  const text = JSON.stringify(artifact.template);
  const { Parameters, Resources, Outputs } = template.parse(artifact.template);
  const resources = Object.entries(Resources).map(([id, body]) => ({ id, ...body }));
  return {
    name: artifact.stackName,
    terminationProtection: artifact.terminationProtection ?? false,
    text,
    parameters: Parameters,
    outputs: Outputs,
    resources,
    ofType: (type) => resources.filter(({ Type }) => Type === type),
    withId: (prefix) => {
      const found = resources.filter(({ id }) => nameOf(id) === prefix);
      const [only] = found;
      if (only === undefined || found.length > 1)
        throw new Error(`${found.length} resources named ${prefix}`);
      return only;
    },
    bundles,
  };
}

/**
 * An app without what no test of a template reads: CDK's own validation, which takes seconds, the tree of
 * constructs and their stack traces.
 */
export function quickApp(props: Pick<AppProps, "outdir"> = {}): App {
  return new App({
    ...props,
    builtinCloudFormationValidation: false,
    treeMetadata: false,
    context: { "aws:cdk:disable-stack-trace": true },
  });
}

export type AddPipeline = (id: string, written: object, options?: Partial<PipelineOptions>) => IncomeEvents;

/** Adds pipelines with stand-in code to a stack. */
export function addTo(stack: Stack): AddPipeline {
  const codeOf: CodeOf = () => lambda.Code.fromInline("// stand-in");
  return (id, written, options) =>
    new IncomeEvents(stack, id, { stage: "test", where: "the test", codeOf, written, ...options });
}

/** A stack of an app with pipelines in it, as CloudFormation gets it. */
export function appWith(fill: (stack: Stack, add: AddPipeline) => void, env?: Environment): Template {
  const stack = new Stack(quickApp(), "Mine", env && { env });
  fill(stack, addTo(stack));
  return Template.fromStack(stack);
}

/** A logical id without CDK's hash. */
export function nameOf(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, "");
}

export const keyArn = "arn:aws:kms:eu-central-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e";

/** A domain of the webhooks, with its certificate. */
export const customDomain = {
  name: "hooks.example.com",
  certificateArn: "arn:aws:acm:eu-central-1:123456789012:certificate/4f6e",
};

/** As many subscribers as a stage may have, with the longest names. */
export const longSubscribers = Array.from({ length: 12 }, (_, index) => ({
  name: `${"a".repeat(37)}-${String(index).padStart(2, "0")}`,
}));

/** The properties of the resources of a type whose logical ids begin so. */
export function propertiesOf(template: Template, type: string, prefix = "") {
  const found = Object.entries(template.findResources(type)).filter(([id]) => id.startsWith(prefix));
  return found.map(([, { Properties }]) => Properties);
}

/** Production settings with a realistic URL and a subscriber in another account. */
export const productionSettings = {
  production: true,
  alarms: { emails: ["on-call@example.com"] },
  provider: { environment: "production", baseUrls: { production: "https://api.income-provider.com" } },
  subscribers: [
    { name: "everything" },
    { name: "risk-team", types: ["account.*", "data.updated"], principals: ["210987654321"] },
  ],
};
