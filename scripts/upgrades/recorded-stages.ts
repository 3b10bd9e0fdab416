import { App, Stack } from "aws-cdk-lib";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { IncomeEvents } from "../../lib/construct/income-events.ts";
import { IncomeEventsStack } from "../../lib/income-events-stack.ts";

/** A pipeline as an app may have deployed it. */
export type StageToRecord = {
  readonly name: string;
  /** Whether it stands in a stack of an app, by the id `instance`, or is a stack of its own. */
  readonly inAnApp: boolean;
  readonly settings: unknown;
};

/** The id of the construct in an app: what stands before the names of its outputs and the ids of its resources. */
export const instance = "Lending";

const production = {
  production: true,
  alarms: { emails: ["on-call@example.com"] },
  provider: { environment: "production", baseUrls: { production: "https://api.income-provider.com" } },
  subscribers: [
    { name: "billing" },
    { name: "risk", types: ["account.*", "data.updated"], principals: ["210987654321"] },
  ],
};

/** Each setting that adds a resource, an output or a permission. Two exclude others of their group: `alarms.topicArn`, `encryption.queueKey`. */
const everything = {
  ...production,
  provider: { ...production.provider, paths: { user: "/api/v0.4/users/{user_id}" } },
  webhooks: {
    sourceAddresses: ["203.0.113.0/24"],
    customDomain: {
      name: "hooks.example.com",
      certificateArn: "arn:aws:acm:eu-central-1:123456789012:certificate/4f6e",
    },
  },
  retention: { documentVersionsDays: 400, auditDays: 400 },
  erasure: { onDeletion: true },
  logs: { invocations: true },
  tracing: "service",
  functions: { receive: { reservedConcurrency: 7 } },
  accountConcurrency: 1_000,
  encryption: { keyArn: "arn:aws:kms:eu-central-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e" },
  dashboard: true,
};

/** What is recorded of a release: little, much, and between them a stage as most have it. */
export const stagesToRecord: readonly StageToRecord[] = [
  {
    name: "a construct in an app",
    inAnApp: true,
    settings: { production: false, subscribers: [{ name: "billing" }] },
  },
  { name: "production", inAnApp: false, settings: production },
  { name: "production with every option", inAnApp: false, settings: everything },
];

/**
 * The template of a stage, as CloudFormation gets it but for the functions' code.
 * @throws SettingsError where the settings are refused
 */
export function synthesizeStage({ inAnApp, settings }: StageToRecord, outdir: string): unknown {
  const app = new App({ outdir, builtinCloudFormationValidation: false });
  const codeOf = () => lambda.Code.fromInline("// stand-in");
  const props = { stage: "recorded", where: "the recorded settings", written: settings, codeOf };
  const stack = inAnApp ? new Stack(app, "App") : new IncomeEventsStack(app, "App", props);
  if (inAnApp) new IncomeEvents(stack, instance, props);
  return app.synth().getStackArtifact(stack.artifactId).template;
}
