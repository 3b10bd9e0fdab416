import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nameOf, productionSettings, type Resource, synthesized } from "./synthesized.ts";

const repository = join(import.meta.dirname, "../..");
const production = synthesized(productionSettings);
const localSettings = JSON.parse(readFileSync(join(repository, "stages/local.json"), "utf8"));
const local = synthesized(localSettings, "local");

const kinds = ["Users", "Accounts", "Endpoints", "CompanyAccounts"];
const workQueues = [...kinds.map((kind) => `${kind}WorkQueue`), "FetchWorkQueue", "ErasureWorkQueue"];
const subscriberQueues = ["SubscriberEverythingQueue", "SubscriberRiskTeamQueue"];
const day = 86_400;

/** The logical id, without hash, that a `Ref` or `Fn::GetAtt` points to. */
function targetOf(value: unknown): string {
  const found = /"(?:Ref|Fn::GetAtt)":\[?"([^"]+)"/.exec(JSON.stringify(value) ?? "");
  return nameOf(found?.[1] ?? "");
}

function functionOf(stack: typeof production, name: string): Resource {
  return stack.withId(`${name}Function`);
}

describe("queues", () => {
  const queues = production.ofType("AWS::SQS::Queue");

  it("are one for each kind, for calls and for each subscriber, each with a dead-letter queue", () => {
    const names = [...workQueues, ...subscriberQueues];
    const expected = names.flatMap((name) => [name, name.replace(/Queue$/, "DeadLetters")]);
    expect(queues.map(({ id }) => nameOf(id)).sort()).toEqual(expected.sort());
  });

  it.each([...workQueues, ...subscriberQueues])(
    "move what is received 5 times to its own DLQ: %s",
    (name) => {
      const { RedrivePolicy } = production.withId(name).Properties;
      expect(RedrivePolicy).toMatchObject({ maxReceiveCount: 5 });
      expect(targetOf(RedrivePolicy)).toBe(name.replace(/Queue$/, "DeadLetters"));
    },
  );

  it("keep messages for 14 days and are encrypted", () => {
    for (const { Properties } of queues) {
      expect(Properties).toMatchObject({ MessageRetentionPeriod: 14 * day, SqsManagedSseEnabled: true });
    }
  });

  it.each([
    ...kinds.map((kind) => [`${kind}WorkQueue`, `${kind}Store`]),
    ["FetchWorkQueue", "FetchData"],
    ["ErasureWorkQueue", "EraseSubjects"],
  ])("hide a message for six times its function's timeout: %s", (queue = "", name = "") => {
    for (const stack of [production, local]) {
      const { Timeout } = functionOf(stack, name).Properties;
      expect(stack.withId(queue).Properties.VisibilityTimeout).toBe(6 * Number(Timeout));
    }
  });

  it("of the local stage come back soon after a function was killed", () => {
    const times = workQueues.map((name) => Number(local.withId(name).Properties.VisibilityTimeout));
    expect(Math.max(...times)).toBeLessThanOrEqual(30);
  });

  it("are all closed to anything but TLS", () => {
    const policies = production.ofType("AWS::SQS::QueuePolicy");
    const closed = policies.filter(({ Properties }) =>
      /"Action":"sqs:\*","Condition":\{"Bool":\{"aws:SecureTransport":"false"\}\},"Effect":"Deny"/.test(
        JSON.stringify(Properties),
      ),
    );
    const names = closed.map(({ Properties }) => targetOf(Properties.Queues)).sort();
    expect(names).toEqual(queues.map(({ id }) => nameOf(id)).sort());
  });

  it("let a subscriber's principals read, and nothing else", () => {
    const policies = JSON.stringify(production.ofType("AWS::SQS::QueuePolicy"));
    const allowed = [...policies.matchAll(/\{"Action":(\[[^\]]*\]),"Effect":"Allow"/g)];
    expect(allowed.map(([, actions]) => JSON.parse(actions ?? ""))).toEqual([
      [
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:ChangeMessageVisibility",
        "sqs:GetQueueAttributes",
        "sqs:GetQueueUrl",
      ],
    ]);
    expect(policies).toContain(":iam::210987654321:root");
  });
});

describe("event sources", () => {
  const sources = production.ofType("AWS::Lambda::EventSourceMapping");
  const sourceOf = (id: string) => sources.filter((source) => nameOf(source.id) === id)[0]?.Properties;

  it.each(kinds)("hand %s to its consumer in tens, and take partial failures", (kind) => {
    const source = sourceOf(`${kind}Source`);
    expect(targetOf(source?.EventSourceArn)).toBe(`${kind}WorkQueue`);
    expect(targetOf(source?.FunctionName)).toBe(`${kind}StoreFunction`);
    expect(source).toMatchObject({ BatchSize: 10, FunctionResponseTypes: ["ReportBatchItemFailures"] });
    expect(source).not.toHaveProperty("MaximumBatchingWindowInSeconds");
  });

  it("call the provider with a maximum concurrency", () => {
    const source = sourceOf("FetchSource");
    expect(targetOf(source?.EventSourceArn)).toBe("FetchWorkQueue");
    expect(targetOf(source?.FunctionName)).toBe("FetchDataFunction");
    expect(source).toMatchObject({
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      ScalingConfig: { MaximumConcurrency: 5 },
    });
  });

  it("relay the table's stream from its start, with finite retries and a failure destination", () => {
    const source = sourceOf("RelaySource");
    expect(source?.EventSourceArn).toEqual({ "Fn::GetAtt": [expect.any(String), "StreamArn"] });
    expect(targetOf(source?.FunctionName)).toBe("RelayChangesFunction");
    expect(source).toMatchObject({
      StartingPosition: "TRIM_HORIZON",
      BatchSize: 100,
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 20,
      MaximumRecordAgeInSeconds: 20 * 3_600,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
    });
    expect(targetOf(source?.DestinationConfig)).toBe("RelayFailures");
  });

  it("relay new events, weak ones again, states and data sets only", () => {
    const filters = JSON.stringify(sourceOf("RelaySource")?.FilterCriteria);
    const patterns = [...filters.matchAll(/"Pattern":("(?:[^"\\]|\\.)*")/g)].map(([, text]) =>
      JSON.parse(JSON.parse(text ?? "")),
    );
    const sortKey = (S: unknown[]) => ({ Keys: { sk: { S } } });
    expect(patterns).toEqual([
      { eventName: ["INSERT"], dynamodb: sortKey([{ prefix: "EVENT#" }]) },
      {
        eventName: ["MODIFY"],
        dynamodb: { ...sortKey([{ prefix: "EVENT#" }]), NewImage: { weak: { BOOL: [true] } } },
      },
      { eventName: ["INSERT", "MODIFY"], dynamodb: sortKey(["STATE"]) },
      { eventName: ["INSERT", "MODIFY"], dynamodb: sortKey([{ prefix: "DATA#" }]) },
    ]);
  });
});

describe("the table", () => {
  const { Properties } = production.withId("EventsTable");

  it("has stream, time to live, point-in-time recovery and is paid by request", () => {
    expect(Properties).toMatchObject({
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      BillingMode: "PAY_PER_REQUEST",
      StreamSpecification: { StreamViewType: "NEW_AND_OLD_IMAGES" },
      TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    });
  });

  it.each(readdirSync(join(repository, "stages")))(
    "has point-in-time recovery whatever the stage: %s",
    (file) => {
      const settings = JSON.parse(readFileSync(join(repository, "stages", file), "utf8"));
      const address = { ...settings.provider, baseUrls: { production: "https://api.income-provider.com" } };
      const stack = synthesized(
        settings.production
          ? { ...settings, provider: address, alarms: productionSettings.alarms }
          : settings,
      );
      expect(stack.withId("EventsTable").Properties.PointInTimeRecoverySpecification).toEqual({
        PointInTimeRecoveryEnabled: true,
      });
    },
  );

  it("is protected from deletion in production only", () => {
    expect(Properties.DeletionProtectionEnabled).toBe(true);
    expect(local.withId("EventsTable").Properties.DeletionProtectionEnabled).toBe(false);
  });
});

describe("what holds data", () => {
  const types = [
    "AWS::DynamoDB::Table",
    "AWS::SQS::Queue",
    "AWS::S3::Bucket",
    "AWS::SecretsManager::Secret",
    "AWS::Logs::LogGroup",
  ];

  it.each(types)("is retained in production and goes with any other stage: %s", (type) => {
    const policies = (stack: typeof production) =>
      new Set(stack.ofType(type).flatMap((each) => [each.DeletionPolicy, each.UpdateReplacePolicy]));
    expect([...policies(production)]).toEqual(["Retain"]);
    expect([...policies(local)]).toEqual(["Delete"]);
  });

  it("is behind termination protection in production only", () => {
    expect([production.terminationProtection, local.terminationProtection]).toEqual([true, false]);
  });

  it("needs no custom resource to be removed", () => {
    expect(local.text).not.toMatch(/Custom::|AWS::CloudFormation::CustomResource/);
  });
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

describe("secrets", () => {
  it("are generated: a placeholder token, a long webhook secret and a longer key without punctuation", () => {
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
});

describe("the HTTP API", () => {
  it.each([
    ["users", "Users"],
    ["accounts", "Accounts"],
    ["endpoints", "Endpoints"],
    ["company-accounts", "CompanyAccounts"],
  ])("routes POST, PUT and any other method of /webhooks/%s to its receiver", (path, name = "") => {
    const routes = production.ofType("AWS::ApiGatewayV2::Route").map(({ Properties }) => Properties);
    const mine = routes.filter(({ RouteKey }) => String(RouteKey).endsWith(`/webhooks/${path}`));
    const keys = mine.map(({ RouteKey }) => String(RouteKey)).sort();
    expect(keys).toEqual([`ANY /webhooks/${path}`, `POST /webhooks/${path}`, `PUT /webhooks/${path}`]);
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
    expect(production.ofType("AWS::ApiGatewayV2::Route")).toHaveLength(12);
  });
});

describe("schedules", () => {
  it.each([
    ["RefreshSchedule", "rate(15 minutes)", "RefreshTokenFunction"],
    ["RegisterSchedule", "rate(1 day)", "RegisterWebhooksFunction"],
    ["ReconcileSchedule", "rate(5 minutes)", "ReconcileUsersFunction"],
    ["ArchiveSchedule", "rate(1 hour)", "ArchiveLettersFunction"],
  ])("%s runs at %s", (id, expression, target) => {
    const rule = production.withId(id).Properties;
    expect(rule).toMatchObject({ ScheduleExpression: expression, State: "ENABLED" });
    expect(targetOf(rule.Targets)).toBe(target);
  });
});

describe("functions", () => {
  const functions = production.ofType("AWS::Lambda::Function");

  it("run on Node 24, arm64, each with a log group of its own", () => {
    const groups = functions.map(({ Properties }) => targetOf(Properties.LoggingConfig));
    expect(new Set(groups).size).toBe(functions.length);
    for (const { Properties } of functions) {
      expect(Properties).toMatchObject({
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
        Handler: "index.handler",
      });
    }
  });

  it("write JSON logs, of Lambda itself failures only; the other lines as well where the setting says so", () => {
    const everything = synthesized({ ...productionSettings, logs: { invocations: true } });
    for (const { id, Properties } of functions) {
      const config = { LogFormat: "JSON", ApplicationLogLevel: "INFO" };
      expect(Properties.LoggingConfig).toMatchObject({ ...config, SystemLogLevel: "WARN" });
      const { LoggingConfig } = everything.withId(nameOf(id)).Properties;
      expect(LoggingConfig).toMatchObject({ ...config, SystemLogLevel: "INFO" });
    }
  });

  it("have logs that expire", () => {
    for (const { Properties } of production.ofType("AWS::Logs::LogGroup")) {
      expect(Properties.RetentionInDays).toBe(30);
    }
  });

  it("are made from entry files that exist", () => {
    const entries = [...production.bundles.keys()].sort();
    const perKind = ["users", "accounts", "endpoints", "company-accounts"];
    expect(entries).toEqual(
      [
        ...perKind.flatMap((kind) => [`functions/receive/${kind}.ts`, `functions/store/${kind}.ts`]),
        "functions/relay/changes.ts",
        "functions/fetch/data.ts",
        "functions/erase/subjects.ts",
        "functions/refresh/token.ts",
        "functions/register/webhooks.ts",
        "functions/reconcile/users.ts",
        "functions/archive/dead-letters.ts",
      ].sort(),
    );
    expect(entries.filter((entry) => !existsSync(join(repository, entry)))).toEqual([]);
  });

  it.each([
    ["UsersReceive", ["QUEUE_URL", "DEAD_LETTER_QUEUE_URL", "OVERFLOW_BUCKET", "WEBHOOK_SECRET_ARN"]],
    ["UsersStore", ["TABLE_NAME", "DEAD_LETTER_QUEUE_URL", "OVERFLOW_BUCKET"]],
    [
      "RelayChanges",
      ["TABLE_NAME", "FETCH_QUEUE_URL", "ERASE_QUEUE_URL", "ERASURE_KEY_ARN", "SUBSCRIBER_QUEUES"],
    ],
    [
      "EraseSubjects",
      [
        "TABLE_NAME",
        "ERASE_QUEUE_URL",
        "DEAD_LETTER_QUEUE_URL",
        "OVERFLOW_BUCKET",
        "FAILURES_BUCKET",
        "ERASURE_LOG_BUCKET",
        "ERASURE_KEY_ARN",
        "ARCHIVE_BUCKET",
        "QUEUE_NAMES",
      ],
    ],
    [
      "FetchData",
      [
        "TABLE_NAME",
        "FETCH_QUEUE_URL",
        "DEAD_LETTER_QUEUE_URL",
        "OVERFLOW_BUCKET",
        "TOKEN_SECRET_ARN",
        "PROVIDER_BASE_URL",
        "REFRESH_FUNCTION_NAME",
      ],
    ],
    ["RefreshToken", ["TOKEN_SECRET_ARN", "PROVIDER_BASE_URL", "TABLE_NAME"]],
    [
      "RegisterWebhooks",
      ["WEBHOOK_SECRET_ARN", "TOKEN_SECRET_ARN", "PROVIDER_BASE_URL", "WEBHOOKS_URL", "TABLE_NAME"],
    ],
    [
      "ReconcileUsers",
      ["TABLE_NAME", "USERS_QUEUE_URL", "ACCOUNTS_QUEUE_URL", "TOKEN_SECRET_ARN", "PROVIDER_BASE_URL"],
    ],
    ["ArchiveLetters", ["DEAD_LETTER_QUEUES", "ARCHIVE_BUCKET"]],
  ])("get what is known at deploy time only from their environment: %s", (name, variables) => {
    const environment = JSON.stringify(functionOf(production, name).Properties.Environment);
    const { Variables } = JSON.parse(environment);
    expect(Object.keys(Variables)).toEqual(variables);
  });

  it("get the rest as settings beside their code", () => {
    const { bundles } = local;
    expect(bundles.get("functions/receive/users.ts")).toEqual({
      secretHeader: "x-webhook-secret",
      mappedHeaders: [],
      secretCacheSeconds: 60,
      maxBodyBytes: 6 * 1024 * 1024,
    });
    const { bundles: restricted } = synthesized({
      ...productionSettings,
      webhooks: { sourceAddresses: ["203.0.113.0/24"] },
    });
    expect(restricted.get("functions/receive/users.ts")).toMatchObject({
      sourceAddresses: ["203.0.113.0/24"],
    });
    expect(bundles.get("functions/store/accounts.ts")).toMatchObject({
      mapping: { types: { connect_account: "account.connected" } },
      retentionDays: 30,
    });
    expect(bundles.get("functions/relay/changes.ts")).toEqual({
      erasesOnDeletion: false,
      eventSource: "/income-events/local",
      readByRange: ["account"],
      subscribers: [{ name: "everything" }, { name: "accounts", types: ["account.*"] }],
    });
    const { bundles: erasing } = synthesized({ ...productionSettings, erasure: { onDeletion: true } });
    expect(erasing.get("functions/relay/changes.ts")).toMatchObject({ erasesOnDeletion: true });
    expect(bundles.get("functions/erase/subjects.ts")).toEqual({
      eventSource: "/income-events/local",
      // The provider's 3 days, 28 in two queues, 90 as a failed change, and 28 in queues again.
      tombstoneDays: 3 + 28 + 90 + 28,
      // The relay's time-out here, which is the longer one.
      settleSeconds: 6,
      subscribers: [{ name: "everything" }, { name: "accounts", types: ["account.*"] }],
    });
    expect(bundles.get("functions/fetch/data.ts")).toMatchObject({
      provider: { requestsPerMinute: 60_000, paths: { start: { body: { endpoints: "{endpoints}" } } } },
      retry: { baseSeconds: 1, maxSeconds: 10 },
      timeoutSeconds: 4,
      readAfterSeconds: 2,
      longestOutageHours: 72,
      // As often as the queue delivers a message before it gives it up by itself.
      maxReceiveCount: 5,
      startEndpoints: expect.arrayContaining(["income"]),
    });
    expect(bundles.get("functions/refresh/token.ts")).toMatchObject({
      token: { marginFraction: 0.5, refreshEveryMinutes: 15 },
    });
    expect(bundles.get("functions/register/webhooks.ts")).toMatchObject({
      secretHeader: "x-webhook-secret",
      secretSettleSeconds: 120,
    });
    expect(bundles.get("functions/reconcile/users.ts")).toMatchObject({
      provider: { paths: { userAccounts: "/api/v0.4/users/{user_id}/accounts" } },
      reconcile: { everyHours: 24, graceMinutes: 0, rereadAfterDays: 30, users: { id: "id || user_id" } },
      ids: { users: "uuid", accounts: "uuid" },
    });
    expect(bundles.get("functions/archive/dead-letters.ts")).toEqual({
      // As long as the dead-letter queues keep a message.
      retentionSeconds: 14 * 86_400,
      beforeEndSeconds: 48 * 3_600,
      timeoutSeconds: 10,
    });
  });

  it("call the settings' address, unless the deployment's parameter names another", () => {
    // A default that held the address would be kept by the next deploy, whatever the settings say by then.
    expect(production.parameters.ProviderBaseUrl).toMatchObject({ Type: "String", Default: "" });
    for (const name of ["FetchData", "RefreshToken", "RegisterWebhooks", "ReconcileUsers"]) {
      expect(functionOf(production, name).Properties.Environment).toMatchObject({
        Variables: {
          PROVIDER_BASE_URL: {
            "Fn::If": [
              "ProviderBaseUrlIsGiven",
              { Ref: "ProviderBaseUrl" },
              "https://api.income-provider.com",
            ],
          },
        },
      });
    }
  });

  it.each([
    ["https://api.provider.com", true],
    ["https://api.provider.com:8443/base/v_1.2", true],
    ["https://api.provider.com/base/", false],
    ["https://API.provider.com", false],
    ["http://127.0.0.1:4010", true],
    ["http://localhost:4010", true],
    ["http://api.provider.com", false],
    ["http://127.0.0.1.provider.com", false],
    ["https://api.provider.com?x=1", false],
    ["", true],
  ])("accept %j as that address: %s", (address, isAccepted) => {
    const pattern = String(production.parameters.ProviderBaseUrl?.AllowedPattern);
    expect(new RegExp(pattern).test(address)).toBe(isAccepted);
  });
});

describe("outputs", () => {
  it("name every address that a person needs next", () => {
    const queues = [...kinds, "Fetch", "Erase", "SubscriberEverything", "SubscriberRiskTeam"].flatMap(
      (name) => [`${name}QueueUrl`, `${name}QueueArn`, `${name}DeadLetterQueueUrl`],
    );
    const others = [
      "WebhooksUrl",
      "Subscribers",
      "SettingsDigest",
      "TableName",
      "TokenSecretArn",
      "WebhookSecretArn",
      "WebhookSecretHeader",
      "OverflowBucketName",
      "ErasureLogBucketName",
      "ErasureKeyArn",
      "FailuresBucketName",
      "RelayFunctionName",
      "RefreshFunctionName",
      "RegisterFunctionName",
      "RegistersWith",
      "WebhookSecretRotation",
      "ReconcileFunctionName",
      "ArchiveBucketName",
      "ArchiveFunctionName",
      "AlarmTopicArn",
    ];
    expect(Object.keys(production.outputs).sort()).toEqual([...queues, ...others].sort());
  });

  it("point to what they name", () => {
    expect(targetOf(production.outputs.UsersDeadLetterQueueUrl?.Value)).toBe("UsersWorkDeadLetters");
    expect(targetOf(production.outputs.SubscriberRiskTeamQueueUrl?.Value)).toBe("SubscriberRiskTeamQueue");
    expect(JSON.stringify(production.outputs.Subscribers?.Value)).toContain("data.updated");
    expect(JSON.stringify(production.outputs.WebhooksUrl?.Value)).toMatch(/"\/webhooks"/);
  });
});

describe("synthesis", () => {
  it("gives the same template twice", () => {
    expect(synthesized(productionSettings).text).toBe(production.text);
  });

  it("gives stages names of their own and no physical name that could collide", () => {
    expect([production.name, local.name]).toEqual(["income-events-test", "income-events-local"]);
    const names = /"(QueueName|TableName|BucketName|FunctionName|RoleName|LogGroupName|Name)":"/g;
    const physical = [...local.text.matchAll(names)].map(([found]) => found);
    // An HTTP API must be named, and its `$default` stage is; neither needs to be unique.
    expect(new Set(physical)).toEqual(new Set(['"Name":"']));
  });
});
