import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { diffTemplate, ResourceImpact } from "@aws-cdk/cloudformation-diff";
import { z } from "zod";
import { templateOf } from "../documents/stage-template.ts";

/** Id of the construct in an app, which prefixes the names of outputs and resources. */
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

/**
 * Every setting that adds a resource, an output or a permission. Two exclude others of their group:
 * `alarms.topicArn`, `encryption.queueKey`.
 */
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
  readiness: { endpoints: ["income", "employment"] },
  retention: { documentVersionsDays: 400, auditDays: 400 },
  erasure: { onDeletion: true },
  logs: { invocations: true },
  tracing: "service",
  functions: { receive: { reservedConcurrency: 7 } },
  accountConcurrency: 1_000,
  encryption: {
    keyArn: "arn:aws:kms:eu-central-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e",
    previousKeyArns: ["arn:aws:kms:eu-central-1:123456789012:key/7c9e6679-7425-40de-944b-e07fc1f90ae7"],
  },
  dashboard: true,
  recovery: { vaultArn: "arn:aws:backup:eu-west-1:210987654321:backup-vault:income-events" },
};

/** Recorded stages: minimal, typical and with everything. */
const stagesToRecord: readonly z.output<typeof stage>[] = [
  {
    name: "a construct in an app",
    inAnApp: true,
    settings: { production: false, subscribers: [{ name: "billing" }] },
  },
  { name: "production", inAnApp: false, settings: production },
  { name: "production with every option", inAnApp: false, settings: everything },
];

const record = z.record(z.string(), z.unknown());
const resource = z.object({
  Type: z.string(),
  Properties: record.optional(),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
});
const parts = z.object({
  Parameters: z.record(z.string(), record).default({}),
  /** Requirements on CDK's bootstrap. */
  Rules: record.default({}),
  Resources: z.record(z.string(), resource),
});
const template = parts.extend({ Outputs: z.record(z.string(), z.object({ Value: z.unknown() })) });
/** Only the references of an output's value: the rest depends on settings. */
const summary = parts.extend({
  types: z.array(z.string()),
  Outputs: z.record(z.string(), z.array(z.string())),
});
/** A pipeline as an app may have deployed it: in the app's stack, with the id `instance`, or its own stack. */
const stage = z.object({ name: z.string(), inAnApp: z.boolean(), settings: z.unknown() });
const release = z.object({
  version: z.string(),
  stages: z.array(stage.extend({ template: summary })),
});

/** Parts of a template that an upgrade could take away from users, with the types of all its resources. */
export type Summary = z.output<typeof summary>;
/** A version's templates at its release. */
export type Release = z.output<typeof release>;

/** Resources with data or addresses that others store: never renamed, removed or replaced. */
export const neverReplaced: ReadonlySet<string> = new Set([
  "AWS::ApiGatewayV2::Api",
  "AWS::Backup::BackupVault",
  "AWS::DynamoDB::GlobalTable",
  "AWS::Lambda::Url",
  "AWS::S3::Bucket",
  "AWS::SecretsManager::Secret",
  "AWS::SQS::Queue",
]);

/** Resources recorded with all properties; for others, only properties whose change replaces them. */
const recordedWhole: ReadonlySet<string> = new Set([
  ...neverReplaced,
  "AWS::ApiGatewayV2::DomainName",
  "AWS::ApiGatewayV2::Route",
  "AWS::ApiGatewayV2::Stage",
  "AWS::Logs::LogGroup",
  "AWS::SNS::Subscription",
  "AWS::SNS::Topic",
]);

/** Resources that nothing outside a stack refers to, so their replacement is unnoticed. */
const unseen: ReadonlySet<string> = new Set([
  "AWS::ApiGatewayV2::ApiMapping",
  "AWS::ApiGatewayV2::Integration",
  "AWS::Lambda::EventInvokeConfig",
  "AWS::Lambda::EventSourceMapping",
  "AWS::Lambda::Permission",
  "AWS::Logs::MetricFilter",
  "AWS::S3::BucketPolicy",
  "AWS::SNS::TopicPolicy",
  "AWS::SQS::QueuePolicy",
]);

/**
 * The part of a stage's template that a release must keep.
 * @throws SettingsError if its settings are invalid
 */
export function summarize({
  inAnApp,
  settings,
}: Pick<z.output<typeof stage>, "inAnApp" | "settings">): Summary {
  const whole = template.parse(templateOf(settings, inAnApp ? instance : undefined));
  const replacing = replacingProperties(whole.Resources);
  const seen = Object.entries(whole.Resources).filter(([, { Type }]) => !unseen.has(Type));
  return {
    Parameters: mapValues(whole.Parameters, ({ Description: _, ConstraintDescription: __, ...rest }) => rest),
    Rules: whole.Rules,
    Outputs: mapValues(whole.Outputs, ({ Value }) => referencesOf(Value)),
    types: [...new Set(Object.values(whole.Resources).map(({ Type }) => Type))].sort(),
    Resources: Object.fromEntries(
      seen.map(([id, { Properties = {}, ...rest }]) => {
        const names = Object.keys(Properties).filter(
          (name) =>
            replacing.has(`${id}.${name}`) || (name !== "Description" && recordedWhole.has(rest.Type)),
        );
        return [
          id,
          { ...rest, Properties: Object.fromEntries(names.map((name) => [name, Properties[name]])) },
        ];
      }),
    ),
  };
}

function mapValues<T, U>(entries: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, map(value)]));
}

/** Distinct resources and parameters that a value references, with the attribute. */
function referencesOf(value: unknown): string[] {
  const found = JSON.stringify(value).matchAll(
    /\{"(?:Ref":"([^"]+)"|Fn::GetAtt":\["([^"]+)","([^"]+)"\])\}/g,
  );
  return [...new Set([...found].map((names) => names.slice(1).filter(Boolean).join(".")))].sort();
}

/**
 * Properties whose change replaces a resource, by resource id: each is changed, and CDK's own comparison
 * decides.
 */
function replacingProperties(resources: z.output<typeof template>["Resources"]): ReadonlySet<string> {
  const changed = Object.entries(resources).map(([id, { Properties = {}, ...rest }]) => {
    const others = Object.keys(Properties).map((name) => [name, "another value"]);
    return [id, { ...rest, Properties: Object.fromEntries(others) }];
  });
  const found = new Set<string>();
  const { resources: differences } = diffTemplate(
    { Resources: resources },
    { Resources: Object.fromEntries(changed) },
  );
  differences.forEachDifference((id, { propertyUpdates }) => {
    for (const [name, { changeImpact }] of Object.entries(propertyUpdates))
      if (isReplaced(changeImpact)) found.add(`${id}.${name}`);
  });
  return found;
}

export function isReplaced(impact: ResourceImpact | undefined): boolean {
  return impact === ResourceImpact.WILL_REPLACE || impact === ResourceImpact.MAY_REPLACE;
}

export function recordRelease(version: string): Release {
  return { version, stages: stagesToRecord.map((stage) => ({ ...stage, template: summarize(stage) })) };
}

/** @returns the recorded releases, oldest first */
export function readReleases(folder: string): readonly Release[] {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return files
    .sort((one, other) => one.localeCompare(other, "en", { numeric: true }))
    .map((name) => release.parse(JSON.parse(readFileSync(join(folder, name), "utf8"))));
}

/** Prints one line per resource and output, so that releases can be compared by eye. */
export function printRelease(recorded: Release): string {
  const print = (value: unknown, depth: number, name = ""): string => {
    const isOnOneLine = depth === 0 || name === "settings" || name === "types";
    if (isOnOneLine || typeof value !== "object" || value === null) return JSON.stringify(value);
    if (Array.isArray(value)) return `[\n${value.map((each) => print(each, depth - 1)).join(",\n")}\n]`;
    const fields = Object.entries(value).map(
      ([key, each]) => `${JSON.stringify(key)}: ${print(each, depth - 1, key)}`,
    );
    return `{\n${fields.join(",\n")}\n}`;
  };
  return `${print(recorded, 5)}\n`;
}
