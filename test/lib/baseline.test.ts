import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { productionSettings, type Resource, synthesized } from "./synthesized.ts";

/**
 * Properties whose change makes CloudFormation replace a resource that holds data, or (the secrets') generate a
 * new value over the one in use. Source: "Update requires" in the CloudFormation template reference.
 */
const replacingProperties: Readonly<Record<string, readonly string[]>> = {
  "AWS::DynamoDB::Table": ["TableName", "KeySchema", "AttributeDefinitions", "ImportSourceSpecification"],
  "AWS::SQS::Queue": ["QueueName", "FifoQueue"],
  "AWS::S3::Bucket": ["BucketName", "ObjectLockEnabled", "BucketNamePrefix"],
  "AWS::SecretsManager::Secret": ["Name", "GenerateSecretString", "SecretString"],
  "AWS::ApiGatewayV2::Api": ["ProtocolType"],
};

const file = join(import.meta.dirname, "baseline-production.json");
const howToAccept =
  "A resource that holds data would be replaced, dropped or left behind. If that is meant, run " +
  "`ACCEPT_BASELINE=1 npm run check -- baseline`, commit the file, and say in docs/adr/ what becomes of the data.";

function heldFast({ Type, Properties }: Resource): object {
  const names = replacingProperties[Type] ?? [];
  const present = names.filter((name) => Properties[name] !== undefined);
  return { Type, ...Object.fromEntries(present.map((name) => [name, Properties[name]])) };
}

function baselineOf(settings: unknown): Record<string, object> {
  const holding = synthesized(settings).resources.filter(({ Type }) => Type in replacingProperties);
  return Object.fromEntries(holding.map((resource) => [resource.id, heldFast(resource)]));
}

if (process.env.ACCEPT_BASELINE === "1") {
  writeFileSync(file, `${JSON.stringify(baselineOf(productionSettings), undefined, 2)}\n`);
}
const baseline: unknown = JSON.parse(readFileSync(file, "utf8"));

describe("resources that hold data", () => {
  it("have the logical ids and the properties of the committed baseline", () => {
    expect(baselineOf(productionSettings), howToAccept).toEqual(baseline);
  });

  it("stay what they are when other settings change", () => {
    const [everything, riskTeam] = productionSettings.subscribers;
    const changed = {
      ...productionSettings,
      production: false,
      provider: { ...productionSettings.provider, requestsPerMinute: 3, versions: { api: "v9" } },
      webhooks: {
        secretHeader: "x-other",
        maxBodyBytes: 99_999,
        customDomain: {
          name: "hooks.example.com",
          certificateArn: "arn:aws:acm:eu-central-1:123456789012:certificate/4f6e",
        },
      },
      mapping: { users: { ids: "any" } },
      // In another order, with other readers, filters and times.
      subscribers: [
        { ...riskTeam, principals: [], types: ["user.*"], retentionDays: 1, visibilityTimeoutSeconds: 9 },
        everything,
      ],
      relay: { batchSize: 1, retryAttempts: 1 },
      fetch: { maxConcurrency: 2, retry: { maxSeconds: 10 }, longestOutageHours: 1 },
      token: { refreshEveryMinutes: 60 },
      register: { everyHours: 1 },
      retention: { eventsDays: 99, failuresDays: 99, logsDays: 1 },
      functions: { receive: { reservedConcurrency: 7 }, store: { timeoutSeconds: 99, memoryMb: 1024 } },
      accountConcurrency: 1_000,
      encryption: {
        keyArn: "arn:aws:kms:eu-central-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e",
      },
    };
    expect(baselineOf(changed), howToAccept).toEqual(baseline);
  });
});
