import { App, Stack } from "aws-cdk-lib";
import * as kms from "aws-cdk-lib/aws-kms";
import { describe, expect, it } from "vitest";
import { allow } from "../../../lib/function/permissions.ts";
import { keyPolicyStatements, parseSettings } from "../../../lib/settings/settings.ts";
import { keyPermissions } from "../../../lib/storage/encryption.ts";
import { keyArn, productionSettings, type Resource, type Synthesized, synthesized } from "../synthesized.ts";

const [everything, riskTeam] = productionSettings.subscribers;

/** The property with the encryption key, by resource type. */
const encryptionOf: Readonly<Record<string, (properties: Resource["Properties"]) => unknown>> = {
  "AWS::DynamoDB::GlobalTable": ({ SSESpecification, Replicas }) => ({ SSESpecification, Replicas }),
  "AWS::SQS::Queue": ({ KmsMasterKeyId, SqsManagedSseEnabled }) => ({ KmsMasterKeyId, SqsManagedSseEnabled }),
  "AWS::S3::Bucket": ({ BucketEncryption }) => BucketEncryption,
  "AWS::SecretsManager::Secret": ({ KmsKeyId }) => KmsKeyId,
  "AWS::Logs::LogGroup": ({ KmsKeyId }) => KmsKeyId,
};

/** Types that store no received data. Types that do are listed above. */
const keepingNothing = [
  "AWS::ApiGatewayV2::",
  "AWS::CloudWatch::",
  "AWS::Events::Rule",
  "AWS::IAM::Role",
  "AWS::Lambda::",
  "AWS::Logs::MetricFilter",
  "Custom::",
  "AWS::S3::BucketPolicy",
  // The topic forwards alarms' texts, and stores nothing.
  "AWS::SNS::",
  "AWS::SQS::QueuePolicy",
];

/** Encryption of all resources of a type: the common value, or each that occurs. */
function encrypted(stack: Synthesized, type: string): unknown {
  const ways = stack.ofType(type).map(({ Properties }) => JSON.stringify(encryptionOf[type]?.(Properties)));
  const [only, ...others] = new Set(ways);
  return others.length === 0 && only !== undefined ? JSON.parse(only) : ways;
}

function bucket(rule: object): object {
  return { ServerSideEncryptionConfiguration: [rule] };
}

describe("data at rest", () => {
  it("is encrypted with AWS's own keys by default", () => {
    const stack = synthesized(productionSettings);
    expect(stack.text).not.toContain("aws:kms");
    expect(encrypted(stack, "AWS::SQS::Queue")).toEqual({ SqsManagedSseEnabled: true });
    expect(encrypted(stack, "AWS::S3::Bucket")).toEqual(
      bucket({ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }),
    );
    // DynamoDB, Secrets Manager and CloudWatch Logs encrypt by default.
    expect(stack.withId("EventsTable").Properties).not.toHaveProperty("SSESpecification");
    expect(stack.text).not.toContain("KmsKeyId");
  });

  it("is only in resources whose encryption is tested here", () => {
    const { resources } = synthesized(productionSettings);
    const types = new Set(resources.map(({ Type }) => Type));
    const unknown = [...types].filter((type) => !keepingNothing.some((known) => type.startsWith(known)));
    expect(unknown.toSorted()).toEqual(Object.keys(encryptionOf).toSorted());
  });

  const own = synthesized({ ...productionSettings, encryption: { keyArn } });
  it.each<[string, unknown]>([
    [
      "AWS::DynamoDB::GlobalTable",
      {
        SSESpecification: { SSEEnabled: true, SSEType: "KMS" },
        Replicas: [expect.objectContaining({ SSESpecification: { KMSMasterKeyId: keyArn } })],
      },
    ],
    ["AWS::SQS::Queue", { KmsMasterKeyId: keyArn }],
    [
      "AWS::S3::Bucket",
      bucket({
        BucketKeyEnabled: true,
        ServerSideEncryptionByDefault: { KMSMasterKeyID: keyArn, SSEAlgorithm: "aws:kms" },
      }),
    ],
    ["AWS::SecretsManager::Secret", keyArn],
    ["AWS::Logs::LogGroup", keyArn],
  ])("is encrypted with the customer's key if one is set: every %s", (type, expected) => {
    expect(encrypted(own, type)).toEqual(expected);
  });

  it("is encrypted with AWS's key of SQS if that is set: only queues, and no role names it", () => {
    const subscribers = [everything];
    const stack = synthesized({
      ...productionSettings,
      subscribers,
      encryption: { queueKey: "alias/aws/sqs" },
    });
    expect(encrypted(stack, "AWS::SQS::Queue")).toEqual({ KmsMasterKeyId: "alias/aws/sqs" });
    expect(stack.text).not.toContain("kms:");
    expect(stack.withId("EventsTable").Properties).not.toHaveProperty("SSESpecification");
  });
});

describe("the key's policy", () => {
  const statementsFor = (settings: object) =>
    keyPolicyStatements(
      "income-events-prod",
      parseSettings({ ...productionSettings, encryption: { keyArn }, ...settings }, "test settings"),
    );
  const [logs, alarms, readers] = statementsFor({ subscribers: [everything, riskTeam] });

  it("admits CloudWatch Logs for log groups of the key's account and region", () => {
    expect(logs).toMatchObject({
      Effect: "Allow",
      Principal: { Service: "logs.eu-central-1.amazonaws.com" },
      Condition: {
        ArnLike: {
          "kms:EncryptionContext:aws:logs:arn": "arn:aws:logs:eu-central-1:123456789012:log-group:*",
        },
      },
    });
  });

  it("admits CloudWatch for this stack's alarms, by both conditions that SNS documents", () => {
    expect(alarms).toEqual({
      Sid: "AlarmsOfIncomeEvents",
      Effect: "Allow",
      Principal: { Service: "cloudwatch.amazonaws.com" },
      Action: ["kms:Decrypt", "kms:GenerateDataKey*"],
      Resource: "*",
      Condition: {
        StringEquals: { "aws:SourceAccount": "123456789012" },
        ArnLike: {
          "aws:SourceArn": "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:income-events-prod-*",
        },
      },
    });
    const topicArn = "arn:aws:sns:eu-central-1:123456789012:on-call";
    expect(JSON.stringify(statementsFor({ alarms: { topicArn } }))).not.toContain("cloudwatch.amazonaws.com");
  });

  it("admits each principal that reads a queue, through SQS and for that queue alone", () => {
    expect(readers).toEqual({
      Sid: "ReadsRiskTeamOfIncomeEvents",
      Effect: "Allow",
      Principal: { AWS: ["arn:aws:iam::210987654321:root"] },
      Action: ["kms:Decrypt"],
      Resource: "*",
      Condition: {
        StringEquals: { "kms:ViaService": "sqs.eu-central-1.amazonaws.com" },
        ArnLike: {
          "kms:EncryptionContext:aws:sqs:arn":
            "arn:aws:sqs:eu-central-1:123456789012:income-events-prod-SubscriberRiskTeamQueue????????-*",
        },
      },
    });
    expect(statementsFor({ subscribers: [everything] })).toHaveLength(2);
    const role = "arn:aws:iam::210987654321:role/reader";
    expect(statementsFor({ subscribers: [{ name: "risk-team", principals: [role] }] })[2]).toMatchObject({
      Sid: "RolesReadRiskTeamOfIncomeEvents",
      Principal: { AWS: ["arn:aws:iam::210987654321:root"] },
      Condition: { ArnEquals: { "aws:PrincipalArn": [role] } },
    });
  });

  it("names subscribers' queues as the template does", () => {
    const queues = synthesized({ ...productionSettings, subscribers: [riskTeam] }).ofType("AWS::SQS::Queue");
    expect(queues.filter(({ id }) => /^SubscriberRiskTeamQueue.{8}$/.test(id))).toHaveLength(1);
  });

  it("admits a subscriber to the stage's queues if CloudFormation would shorten the queue's name", () => {
    const name = `a${"b".repeat(39)}`;
    const last = statementsFor({ subscribers: [{ ...riskTeam, name }] }).at(-1);
    expect(JSON.stringify(last)).toContain(":income-events-prod*");
  });
});

describe("a former key", () => {
  const formerKeyArn = "arn:aws:kms:eu-central-1:123456789012:key/7c9e6679-7425-40de-944b-e07fc1f90ae7";
  const keyStatements = (encryption: object) =>
    synthesized({ ...productionSettings, encryption })
      .ofType("AWS::IAM::Role")
      .map(({ id, Properties }) => {
        const statements = [...JSON.stringify(Properties).matchAll(statementOnKey)];
        return { id, statements: statements.map(([, actions = "", arn = ""]) => ({ actions, arn })) };
      });
  const statementOnKey = /"Action":([^:{}]*"kms:[^{}]*?),"Effect":"Allow","Resource":"([^"]*)"/g;

  it.each([{ keyArn }, {}])(
    "may be used only for decryption, by each role that decrypted with it, if the settings now say %j",
    (now) => {
      const before = keyStatements({ keyArn: formerKeyArn });
      const after = keyStatements({ ...now, previousKeyArns: [formerKeyArn] });
      expect(before.filter(({ statements }) => statements.length > 0).length).toBeGreaterThan(10);
      const decrypting = before.filter(({ statements }) =>
        statements.some(({ actions }) => actions.includes("kms:Decrypt")),
      );
      const allowed = after.flatMap(({ id, statements }) =>
        statements.filter(({ arn }) => arn === formerKeyArn).map(({ actions }) => ({ id, actions })),
      );
      expect(allowed).toEqual(decrypting.map(({ id }) => ({ id, actions: '"kms:Decrypt"' })));
    },
  );
});

describe("a permission on data", () => {
  const dataKey = kms.Key.fromKeyArn(new Stack(new App(), "Test"), "Key", keyArn);

  it("without a declared use of the key fails the synthesis, only with a key", () => {
    const unknown = [allow(["dynamodb:PartiQLSelect"], ["arn:aws:dynamodb:eu-central-1:1:table/t"])];
    expect(() => keyPermissions(unknown, { dataKey, previousKeyArns: [] })).toThrow(
      "dynamodb:PartiQLSelect: say in lib/storage/encryption.ts",
    );
    expect(keyPermissions(unknown, { dataKey: undefined, previousKeyArns: [] })).toEqual([]);
  });
});
