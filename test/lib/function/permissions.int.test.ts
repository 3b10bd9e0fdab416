import { describe, expect, it } from "vitest";
import { resourceWildcards } from "../../../lib/function/permissions.ts";
import { nameOf, productionSettings, synthesized } from "../synthesized.ts";
import { allowedBy, readable, role } from "./roles.ts";

const stack = synthesized(productionSettings);

/** `CompanyAccounts` names objects below `company-accounts`. */
const folderOf = (kind: string) => kind.replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();
const receive = (kind: string) => [
  `sqs:SendMessage                  ${kind}WorkQueue`,
  `sqs:SendMessage                  ${kind}WorkDeadLetters`,
  `s3:PutObject OverflowBucket/bodies/${folderOf(kind)}/*`,
  "secretsmanager:GetSecretValue    WebhookSecret",
];
const writeStatements = [
  "dynamodb:PartiQLInsert           EventsTable",
  "dynamodb:PartiQLUpdate           EventsTable",
];
const store = (kind: string) => [
  `sqs:ReceiveMessage               ${kind}WorkQueue`,
  `sqs:DeleteMessage                ${kind}WorkQueue`,
  `sqs:GetQueueAttributes           ${kind}WorkQueue`,
  `sqs:SendMessage                  ${kind}WorkDeadLetters`,
  "dynamodb:BatchGetItem            EventsTable",
  ...writeStatements,
  `s3:GetObject OverflowBucket/bodies/${folderOf(kind)}/*`,
];

/** All that each function may do, besides writing to its own log. */
const permissions: Readonly<Record<string, readonly string[]>> = {
  UsersReceive: receive("Users"),
  AccountsReceive: receive("Accounts"),
  EndpointsReceive: receive("Endpoints"),
  CompanyAccountsReceive: receive("CompanyAccounts"),
  UsersStore: store("Users"),
  AccountsStore: store("Accounts"),
  EndpointsStore: store("Endpoints"),
  CompanyAccountsStore: store("CompanyAccounts"),
  RelayChanges: [
    "dynamodb:DescribeStream          EventsTable.StreamArn",
    "dynamodb:GetRecords              EventsTable.StreamArn",
    "dynamodb:GetShardIterator        EventsTable.StreamArn",
    "dynamodb:ListStreams             *",
    "dynamodb:BatchGetItem            EventsTable",
    ...writeStatements,
    "secretsmanager:GetSecretValue    ErasureKey",
    "sqs:SendMessage                  FetchWorkQueue",
    "sqs:SendMessage                  ErasureWorkQueue",
    "sqs:SendMessage                  SubscriberEverythingQueue",
    "sqs:SendMessage                  SubscriberEverythingDeadLetters",
    "sqs:SendMessage                  SubscriberRiskTeamQueue",
    "sqs:SendMessage                  SubscriberRiskTeamDeadLetters",
    "s3:PutObject                     RelayFailures/*",
    "s3:ListBucket                    RelayFailures",
    "s3:DeleteObject                  OverflowBucket/data/*",
  ],
  FetchData: [
    ...["FetchWork", "FetchChecks"].flatMap((work) => [
      ...[
        "ReceiveMessage",
        "DeleteMessage",
        "GetQueueAttributes",
        "ChangeMessageVisibility",
        "SendMessage",
      ].map((action) => `sqs:${action} ${work}Queue`),
      `sqs:SendMessage                  ${work}DeadLetters`,
    ]),
    "dynamodb:GetItem                 EventsTable",
    "dynamodb:BatchGetItem            EventsTable",
    "dynamodb:Query                   EventsTable",
    "dynamodb:UpdateItem              EventsTable",
    ...writeStatements,
    "s3:PutObject                     OverflowBucket/data/*",
    "s3:PutObject                     OverflowBucket/pages/*",
    "s3:GetObject                     OverflowBucket/pages/*",
    ...["TokenSecret", "ErasureKey"].map((secret) => `secretsmanager:GetSecretValue ${secret}`),
    "lambda:InvokeFunction            RefreshTokenFunction",
  ],
  EraseSubjects: [
    "sqs:ReceiveMessage               ErasureWorkQueue",
    "sqs:DeleteMessage                ErasureWorkQueue",
    "sqs:GetQueueAttributes           ErasureWorkQueue",
    "sqs:SendMessage                  ErasureWorkQueue",
    "sqs:SendMessage                  ErasureWorkDeadLetters",
    "sqs:SendMessage                  SubscriberEverythingQueue",
    "sqs:SendMessage                  SubscriberEverythingDeadLetters",
    "sqs:SendMessage                  SubscriberRiskTeamQueue",
    "sqs:SendMessage                  SubscriberRiskTeamDeadLetters",
    ...["ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "GetQueueAttributes"].flatMap(
      (action) =>
        [
          ...["UsersWork", "AccountsWork", "EndpointsWork", "CompanyAccountsWork"],
          ...["FetchWork", "FetchChecks", "SubscriberEverything", "SubscriberRiskTeam"],
        ].map((name) => `sqs:${action} ${name}DeadLetters`),
    ),
    "s3:GetObject                     OverflowBucket/bodies/*",
    "s3:ListBucket                    ArchiveBucket",
    "s3:GetObject                     ArchiveBucket/dead-letters/*",
    "s3:DeleteObject                  ArchiveBucket/dead-letters/*",
    "dynamodb:Query                   EventsTable",
    "dynamodb:DeleteItem              EventsTable",
    "dynamodb:UpdateItem              EventsTable",
    "dynamodb:PutItem                 EventsTable",
    "s3:ListBucket                    OverflowBucket",
    ...["bodies", "data", "pages"].map((place) => `s3:DeleteObject OverflowBucket/${place}/*`),
    "s3:ListBucket                    RelayFailures",
    "s3:GetObject                     RelayFailures/*",
    "s3:PutObject                     RelayFailures/*",
    "s3:DeleteObject                  RelayFailures/*",
    "s3:PutObject                     ErasureLog/erased/*",
    "secretsmanager:GetSecretValue    ErasureKey",
  ],
  ReadDocuments: [
    "dynamodb:BatchGetItem            EventsTable",
    "dynamodb:GetItem                 EventsTable",
    "dynamodb:Query                   EventsTable",
    "s3:GetObject                     OverflowBucket/data/*",
  ],
  RefreshToken: [
    "secretsmanager:GetSecretValue           TokenSecret",
    "secretsmanager:PutSecretValue           TokenSecret",
    "secretsmanager:UpdateSecretVersionStage TokenSecret",
    "dynamodb:GetItem                        EventsTable",
    "dynamodb:UpdateItem                     EventsTable",
  ],
  ReconcileUsers: [
    "dynamodb:GetItem                 EventsTable",
    "dynamodb:BatchGetItem            EventsTable",
    "dynamodb:PutItem                 EventsTable",
    "dynamodb:UpdateItem              EventsTable",
    "dynamodb:Query                   EventsTable",
    "sqs:SendMessage                  UsersWorkQueue",
    "sqs:SendMessage                  AccountsWorkQueue",
    "sqs:SendMessage                  FetchWorkQueue",
    "secretsmanager:GetSecretValue    TokenSecret",
  ],
  ArchiveLetters: [
    ...[
      ...["UsersWork", "AccountsWork", "EndpointsWork", "CompanyAccountsWork"],
      ...["FetchWork", "FetchChecks", "ErasureWork", "SubscriberEverything", "SubscriberRiskTeam"],
    ].flatMap((work) => [
      `sqs:ReceiveMessage               ${work}DeadLetters`,
      `sqs:DeleteMessage                ${work}DeadLetters`,
      `sqs:ChangeMessageVisibility      ${work}DeadLetters`,
    ]),
    "s3:PutObject                     ArchiveBucket/dead-letters/*",
  ],
  RegisterWebhooks: [
    "secretsmanager:GetSecretValue    WebhookSecret",
    "secretsmanager:GetSecretValue    TokenSecret",
    "dynamodb:GetItem                 EventsTable",
    "dynamodb:UpdateItem              EventsTable",
  ],
  ProtectionCreation: ["cloudformation:UpdateTerminationProtection AWS::StackId"],
  ProtectionTable: [
    "dynamodb:DescribeTable           EventsTable",
    "dynamodb:UpdateTable             EventsTable",
  ],
};

const roles = stack.ofType("AWS::IAM::Role");

describe("a function's role", () => {
  it("is there for each function, and for nothing else", () => {
    expect(roles.map(({ id }) => nameOf(id)).sort()).toEqual(
      Object.keys(permissions)
        .map((name) => `${name}Role`)
        .sort(),
    );
    expect(stack.ofType("AWS::IAM::Policy")).toEqual([]);
  });

  it.each(Object.entries(permissions))("allows exactly what it needs: %s", (name, expected) => {
    const logs = ["logs:CreateLogStream", "logs:PutLogEvents"].map((action) => `${action} ${name}Logs`);
    const lines = [...expected.map((line) => line.replace(/\s+/, " ")), ...logs];
    expect(allowedBy(stack.withId(`${name}Role`)).sort()).toEqual(lines.sort());
  });

  it.each(Object.keys(permissions))("is the one that the function has: %s", (name) => {
    const { Role } = stack.withId(`${name}Function`).Properties;
    expect(readable(Role)).toBe(`${name}Role`);
  });

  it("that reads for subscribers sees states and documents alone: no event, tombstone or secret", () => {
    const statements = role
      .parse(stack.withId("ReadDocumentsRole").Properties)
      .Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
    expect(statements.find(({ Action }) => Action.includes("dynamodb:GetItem"))?.Condition).toEqual({
      "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["USER#*", "ACCOUNT#*", "COMPANY#*"] },
      "ForAllValues:StringEquals": {
        "dynamodb:Attributes": ["pk", "sk", "schemaVersion", "state", "document", "expiresAt"],
      },
      StringEqualsIfExists: { "dynamodb:Select": "SPECIFIC_ATTRIBUTES" },
    });
  });

  it("has no managed policy, and only Lambda takes it on", () => {
    for (const { Properties } of roles) {
      expect(Properties).not.toHaveProperty("ManagedPolicyArns");
      expect(role.parse(Properties).AssumeRolePolicyDocument).toEqual({
        Version: "2012-10-17",
        Statement: [
          { Action: "sts:AssumeRole", Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" } },
        ],
      });
    }
  });
});

describe("with a customer's key", () => {
  const keyArn = "arn:aws:kms:eu-central-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e";
  const encrypted = synthesized({ ...productionSettings, encryption: { keyArn } });
  const both = ["kms:Decrypt", "kms:GenerateDataKey"];
  /** Sending and writing need a new data key; SQS verifies it by decrypting it. */
  const ofKey: Readonly<Record<string, readonly string[]>> = {
    UsersReceive: both,
    AccountsReceive: both,
    EndpointsReceive: both,
    CompanyAccountsReceive: both,
    UsersStore: both,
    AccountsStore: both,
    EndpointsStore: both,
    CompanyAccountsStore: both,
    RelayChanges: both,
    FetchData: both,
    EraseSubjects: both,
    ReadDocuments: ["kms:Decrypt"],
    RefreshToken: both,
    ReconcileUsers: both,
    ArchiveLetters: both,
    // It only reads secrets, and items of the table, whose key exists.
    RegisterWebhooks: ["kms:Decrypt"],
  };

  it.each(Object.entries(permissions))("a role may use that key alone, and else what it may: %s", (name) => {
    const lines = ofKey[name]?.map((action) => `${action} ${keyArn}`) ?? [];
    const before = allowedBy(stack.withId(`${name}Role`));
    expect(allowedBy(encrypted.withId(`${name}Role`)).sort()).toEqual([...before, ...lines].sort());
  });

  it("the key itself stays as it is: the stack has none, and no policy of one", () => {
    expect(encrypted.resources.filter(({ Type }) => Type.startsWith("AWS::KMS::"))).toEqual([]);
  });
});

const traced = synthesized({ ...productionSettings, tracing: "service" });

describe("with tracing", () => {
  it.each(Object.keys(permissions))("a role may send traces, and else what it may: %s", (name) => {
    const sent = ["xray:PutTelemetryRecords *", "xray:PutTraceSegments *"];
    const before = allowedBy(stack.withId(`${name}Role`));
    expect(allowedBy(traced.withId(`${name}Role`)).sort()).toEqual([...before, ...sent].sort());
    expect(traced.withId(`${name}Function`).Properties).toMatchObject({ TracingConfig: { Mode: "Active" } });
    expect(readable(traced.withId(`${name}Function`).Properties.Role)).toBe(`${name}Role`);
    expect(stack.withId(`${name}Function`).Properties).not.toHaveProperty("TracingConfig");
  });

  it("there is no other policy", () => {
    expect(traced.ofType("AWS::IAM::Policy")).toEqual([]);
  });
});

describe("wildcards", () => {
  const pairs = [...roles, ...traced.ofType("AWS::IAM::Role")].flatMap((each) =>
    allowedBy(each).map((pair) => pair.split(" ")),
  );

  it("stand in no allowed action, of roles and of resource policies", () => {
    expect(pairs.filter(([action]) => action?.includes("*"))).toEqual([]);
    expect(stack.text).not.toMatch(/"Action":[^}]*\*[^}]*"Effect":"Allow"/);
  });

  it("stand in resources of the list only, and each of the list is in use", () => {
    const used = pairs
      .filter(([, resource]) => resource?.includes("*"))
      .map(([action, resource = ""]) => `${action} ${resource.replace(/^[A-Za-z]+/, "")}`);
    const listed = resourceWildcards.flatMap(({ actions, resource }) =>
      actions.map((action) => `${action} ${resource}`),
    );
    expect([...new Set(used)].sort()).toEqual([...listed].sort());
  });

  it("have a reason of a sentence", () => {
    for (const { reason } of resourceWildcards) expect(reason).toMatch(/^[A-Z].{20,}\.$/);
  });
});
