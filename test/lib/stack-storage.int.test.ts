import { describe, expect, it } from "vitest";
import { webhookKinds } from "../../domain/event/events.ts";
import { nameOf, productionSettings, synthesized } from "./synthesized.ts";
import { local, production, targetOf } from "./synthesized-stages.ts";

describe("a resource with data", () => {
  const types = [
    "AWS::DynamoDB::GlobalTable",
    "AWS::SQS::Queue",
    // Access to a queue stays as it was.
    "AWS::SQS::QueuePolicy",
    "AWS::S3::Bucket",
    "AWS::SecretsManager::Secret",
    "AWS::Logs::LogGroup",
  ];

  it.each(types)("is retained in production and deleted with any other stage: %s", (type) => {
    const policies = (stack: typeof production) =>
      new Set(stack.ofType(type).map((each) => `${each.DeletionPolicy}, ${each.UpdateReplacePolicy}`));
    // A failed deployment deletes what it created: it is empty, and would block the next one.
    expect([...policies(production)]).toEqual(["RetainExceptOnCreate, Retain"]);
    expect([...policies(local)]).toEqual(["Delete, Delete"]);
  });

  it("is behind termination protection in production only", () => {
    expect([production.terminationProtection, local.terminationProtection]).toEqual([true, false]);
  });

  it("needs no custom resource for its removal outside production", () => {
    expect(local.text).not.toMatch(/Custom::|AWS::CloudFormation::CustomResource/);
  });
});

describe("a production stack whose creation fails", () => {
  const first = production.withId("ProtectionCreationRemovable");
  const last = production.withId("ProtectionTableProtected");

  it("can be removed: the resource that allows it is created first and removed last", () => {
    const before = ["ProtectionCreationLogs", "ProtectionCreationRole", "ProtectionCreationFunction"];
    const without = production.resources.filter(({ DependsOn }) => !DependsOn.includes(first.id));
    expect(without.map(({ id }) => nameOf(id)).sort()).toEqual([...before, nameOf(first.id)].sort());
    expect(targetOf(first.Properties.ServiceToken)).toBe("ProtectionCreationFunction");
  });

  it("leaves no table that can't be deleted: protection is switched on by what is created last", () => {
    expect(JSON.stringify(production.withId("EventsTable").Properties)).not.toContain("DeletionProtection");
    const needed = new Set(last.DependsOn);
    const after = production.resources.filter(({ id }) => id !== last.id && !needed.has(id));
    expect(after.map(({ id }) => nameOf(id)).filter((name) => !name.startsWith("Protection"))).toEqual([]);
    expect(targetOf(last.Properties.ServiceToken)).toBe("ProtectionTableFunction");
  });

  it("does not wait for an answer for CloudFormation's hour", () => {
    for (const { Properties } of [first, last]) expect(Properties.ServiceTimeout).toBe("300");
  });
});

it("the table's write capacity is the account's, or limited by a setting", () => {
  const bounded = synthesized({ ...productionSettings, table: { maxWriteRequestUnits: 500 } });
  expect(bounded.withId("EventsTable").Properties.WriteOnDemandThroughputSettings).toEqual({
    MaxWriteRequestUnits: 500,
  });
  expect(production.withId("EventsTable").Properties).not.toHaveProperty("WriteOnDemandThroughputSettings");
});

describe("buckets", () => {
  const buckets = production.ofType("AWS::S3::Bucket");

  it("are private, encrypted and closed to anything but TLS", () => {
    const policies = JSON.stringify(production.ofType("AWS::S3::BucketPolicy"));
    expect(buckets.map(({ id }) => nameOf(id)).sort()).toEqual([
      "ArchiveBucket",
      "ErasureLog",
      "OverflowBucket",
      "RelayFailures",
    ]);
    for (const { id, Properties } of buckets) {
      expect(Properties).toMatchObject({
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
        },
      });
      expect(policies).toContain(`"Bucket":{"Ref":"${id}"}`);
    }
    expect(policies.match(/"aws:SecureTransport":"false"/g)).toHaveLength(buckets.length);
  });

  it("keep no versions of what an erasure deletes", () => {
    const versioned = buckets.filter(({ Properties }) => Properties.VersioningConfiguration !== undefined);
    expect(versioned.map(({ id }) => nameOf(id))).toEqual(["ErasureLog"]);
  });

  it("keep the log of erasures without end, and in production what was deleted or overwritten of it", () => {
    const log = (stack: typeof production) => stack.withId("ErasureLog").Properties;
    expect(log(production).LifecycleConfiguration).toEqual({
      Rules: [{ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 }, Status: "Enabled" }],
    });
    expect(log(production).VersioningConfiguration).toEqual({ Status: "Enabled" });
    expect(log(local)).not.toHaveProperty("VersioningConfiguration");
  });

  it("keep bodies for as long as their events, a stay in two queues and the archive; data without end", () => {
    const { LifecycleConfiguration } = production.withId("OverflowBucket").Properties;
    expect(LifecycleConfiguration).toEqual({
      Rules: [
        { ExpirationInDays: 30 + 28 + 90, Prefix: "bodies/", Status: "Enabled" },
        { ExpirationInDays: 15, Prefix: "pages/", Status: "Enabled" },
        { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 }, Status: "Enabled" },
      ],
    });
  });
});

it("secrets are generated: a placeholder token, a long webhook secret and a longer key without punctuation", () => {
  expect(production.withId("ErasureKey").Properties.GenerateSecretString).toEqual({
    SecretStringTemplate: "{}",
    GenerateStringKey: "key",
    PasswordLength: 64,
    ExcludePunctuation: true,
  });
  expect(production.withId("TokenSecret").Properties.GenerateSecretString).toEqual({
    SecretStringTemplate: "{}",
    GenerateStringKey: "placeholder",
  });
  expect(production.withId("WebhookSecret").Properties.GenerateSecretString).toEqual({
    SecretStringTemplate: "{}",
    GenerateStringKey: "current",
    PasswordLength: 48,
    ExcludePunctuation: true,
  });
});

describe("the HTTP API", () => {
  it.each([
    ["users", "Users"],
    ["accounts", "Accounts"],
    ["endpoints", "Endpoints"],
    ["company-accounts", "CompanyAccounts"],
  ])("routes any method of /webhooks/%s to its receiver", (path, name = "") => {
    const routes = production.ofType("AWS::ApiGatewayV2::Route").map(({ Properties }) => Properties);
    const mine = routes.filter(({ RouteKey }) => String(RouteKey).endsWith(`/webhooks/${path}`));
    expect(mine.map(({ RouteKey }) => RouteKey)).toEqual([`ANY /webhooks/${path}`]);
    const integrations = production
      .ofType("AWS::ApiGatewayV2::Integration")
      .filter(({ Properties }) => targetOf(Properties.IntegrationUri) === `${name}ReceiveFunction`);
    expect(integrations).toHaveLength(1);
    for (const { Target } of mine) expect(JSON.stringify(Target)).toContain(integrations[0]?.id);
  });

  it("allows no other origin and knows no other route", () => {
    expect(production.ofType("AWS::ApiGatewayV2::Api")[0]?.Properties).not.toHaveProperty(
      "CorsConfiguration",
    );
    const routes = production.ofType("AWS::ApiGatewayV2::Route").map(({ Properties }) => Properties.RouteKey);
    expect(routes).toEqual([...webhookKinds.map((kind) => `ANY /webhooks/${kind}`), "$default"]);
  });

  it("lets little through by paths that have no route, however much by the others", () => {
    const [stage] = production.ofType("AWS::ApiGatewayV2::Stage");
    expect(stage?.Properties.RouteSettings).toEqual({
      $default: { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 },
    });
  });

  it("is changed by one resource at a time: each route after the one before, then the stage that deploys", () => {
    const parts = [
      ...production.ofType("AWS::ApiGatewayV2::Route"),
      ...production.ofType("AWS::ApiGatewayV2::Stage"),
    ];
    expect(parts.at(-1)?.Properties).toMatchObject({ AutoDeploy: true });
    for (const [index, part] of parts.entries()) {
      const before = parts[index - 1];
      if (before === undefined) continue;
      const integration = /"(\w+Receiver\w+)"/.exec(JSON.stringify(part.Properties))?.[1];
      expect(part.DependsOn).toContain(before.id);
      if (integration !== undefined)
        expect(production.withId(nameOf(integration)).DependsOn).toContain(before.id);
    }
  });
});

describe("schedules", () => {
  const watched = synthesized({ ...productionSettings, canary: {} });
  it.each([
    ["RefreshSchedule", "rate(15 minutes)", "RefreshTokenFunction"],
    ["RegisterSchedule", "rate(1 day)", "RegisterWebhooksFunction"],
    ["ReconcileSchedule", "rate(5 minutes)", "ReconcileUsersFunction"],
    ["ArchiveSchedule", "rate(1 hour)", "ArchiveLettersFunction"],
    ["CanarySchedule", "rate(1 hour)", "CanaryEventsFunction"],
  ])("%s runs at %s", (id, expression, target) => {
    const rule = watched.withId(id).Properties;
    expect(rule).toMatchObject({ ScheduleExpression: expression, State: "ENABLED" });
    expect(targetOf(rule.Targets)).toBe(target);
  });
});
