import { describe, expect, it } from "vitest";
import { nameOf, productionSettings, synthesized } from "./synthesized.ts";
import { functionOf, local, production, targetOf } from "./synthesized-stages.ts";

const kinds = ["Users", "Accounts", "Endpoints", "CompanyAccounts"];
const fetchQueues = ["FetchWorkQueue", "FetchChecksQueue"];
const workQueues = [...kinds.map((kind) => `${kind}WorkQueue`), ...fetchQueues, "ErasureWorkQueue"];
const subscriberQueues = ["SubscriberEverythingQueue", "SubscriberRiskTeamQueue"];
const day = 86_400;

describe("queues", () => {
  const queues = production.ofType("AWS::SQS::Queue");

  it("are one for each kind and subscriber, and two for calls, each with a dead-letter queue", () => {
    const names = [...workQueues, ...subscriberQueues];
    const expected = names.flatMap((name) => [name, name.replace(/Queue$/, "DeadLetters")]);
    expect(queues.map(({ id }) => nameOf(id)).sort()).toEqual(expected.sort());
  });

  it.each([
    // Twelve hours in units of the visibility timeout.
    ...kinds.map((kind) => [`${kind}WorkQueue`, (12 * 3_600) / 120] as const),
    ["ErasureWorkQueue", (12 * 3_600) / 1_800] as const,
    // A task waits by being hidden, and each wait is a receive.
    ...fetchQueues.map((name) => [name, 1_000] as const),
    ...subscriberQueues.map((name) => [name, 5] as const),
  ])("move what is received too often to its own DLQ: %s, %i times", (name, maxReceiveCount) => {
    const { RedrivePolicy } = production.withId(name).Properties;
    expect(RedrivePolicy).toMatchObject({ maxReceiveCount });
    expect(targetOf(RedrivePolicy)).toBe(name.replace(/Queue$/, "DeadLetters"));
  });

  it("deliver tasks of a document one batch at a time, in groups, and everything else in any order", () => {
    const inOrder = queues.filter(({ Properties }) => Properties.FifoQueue === true);
    expect(inOrder.map(({ id }) => nameOf(id)).sort()).toEqual(["FetchWorkDeadLetters", "FetchWorkQueue"]);
    for (const { Properties } of inOrder) {
      // Without these, the whole queue would be limited to 300 requests per second.
      expect(Properties).toMatchObject({
        DeduplicationScope: "messageGroup",
        FifoThroughputLimit: "perMessageGroupId",
      });
      expect(Properties).not.toHaveProperty("ContentBasedDeduplication");
    }
  });

  it("survive 12 hours without concurrency for the functions, within SQS's 1,000 receives", () => {
    const stack = synthesized({ ...productionSettings, functions: { store: { timeoutSeconds: 1 } } });
    expect(stack.withId("UsersWorkQueue").Properties.RedrivePolicy).toMatchObject({ maxReceiveCount: 1_000 });
  });

  it("keep messages for 14 days and are encrypted", () => {
    for (const { Properties } of queues) {
      expect(Properties).toMatchObject({ MessageRetentionPeriod: 14 * day, SqsManagedSseEnabled: true });
    }
  });

  it.each([
    ...kinds.map((kind) => [`${kind}WorkQueue`, `${kind}Store`]),
    ...fetchQueues.map((queue) => [queue, "FetchData"]),
    ["ErasureWorkQueue", "EraseSubjects"],
  ])(
    "hide a message for six times its function's timeout, and soon show it locally: %s",
    (queue = "", name = "") => {
      const { Timeout } = functionOf(production, name).Properties;
      expect(production.withId(queue).Properties.VisibilityTimeout).toBe(6 * Number(Timeout));
      const { Timeout: shorter } = functionOf(local, name).Properties;
      expect(local.withId(queue).Properties.VisibilityTimeout).toBe(2 * Number(shorter));
      expect(2 * Number(shorter)).toBeLessThanOrEqual(10);
    },
  );

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

  it("let a subscriber's role read, even after it was deleted and recreated", () => {
    const role = "arn:aws:iam::210987654321:role/reader";
    const subscribers = [{ name: "risk", principals: ["333333333333", role] }];
    const policies = synthesized({ ...productionSettings, subscribers }).ofType("AWS::SQS::QueuePolicy");
    const text = JSON.stringify(policies.map(({ Properties }) => Properties.PolicyDocument));
    const allowing: readonly object[] = JSON.parse(text).flatMap(
      ({ Statement }: { Statement: readonly { Effect: string }[] }) =>
        Statement.filter(({ Effect }) => Effect === "Allow"),
    );
    const accountRoot = (account: string) => ({
      AWS: { "Fn::Join": ["", expect.arrayContaining([`:iam::${account}:root`])] },
    });
    expect(allowing).toMatchObject([
      { Principal: accountRoot("333333333333") },
      { Principal: accountRoot("210987654321"), Condition: { ArnEquals: { "aws:PrincipalArn": [role] } } },
    ]);
    expect(allowing[0]).not.toHaveProperty("Condition");
  });
});

describe("event sources", () => {
  const sources = production.ofType("AWS::Lambda::EventSourceMapping");
  const sourceOf = (id: string) => sources.filter((source) => nameOf(source.id) === id)[0]?.Properties;

  it.each(kinds)("hand %s to its consumer in tens, and take partial failures", (kind) => {
    const source = sourceOf(`${kind}StoreSource`);
    expect(targetOf(source?.EventSourceArn)).toBe(`${kind}WorkQueue`);
    expect(targetOf(source?.FunctionName)).toBe(`${kind}StoreFunction`);
    expect(source).toMatchObject({ BatchSize: 10, FunctionResponseTypes: ["ReportBatchItemFailures"] });
    expect(source).not.toHaveProperty("MaximumBatchingWindowInSeconds");
  });

  it.each([
    [10, 2],
    [200, 25],
    [100_000, 1_000],
  ])(
    "leave half of an account's %i executions to other functions: %i for each kind",
    (accountConcurrency, most) => {
      const stack = synthesized({ ...productionSettings, accountConcurrency });
      for (const kind of kinds) {
        expect(stack.withId(`${kind}StoreSource`).Properties.ScalingConfig).toEqual({
          MaximumConcurrency: most,
        });
      }
    },
  );

  it.each([
    ["FetchSource", "FetchWorkQueue"],
    ["FetchChecksSource", "FetchChecksQueue"],
  ])("call the provider with a maximum concurrency: %s", (id, queue) => {
    const source = sourceOf(id);
    expect(targetOf(source?.EventSourceArn)).toBe(queue);
    expect(targetOf(source?.FunctionName)).toBe("FetchDataFunction");
    expect(source).toMatchObject({
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      ScalingConfig: { MaximumConcurrency: 5 },
    });
  });

  it("relay the table's stream from its start, until they are too old, with a failure destination", () => {
    const source = sourceOf("RelaySource");
    expect(source?.EventSourceArn).toEqual({ "Fn::GetAtt": [expect.any(String), "StreamArn"] });
    expect(targetOf(source?.FunctionName)).toBe("RelayChangesFunction");
    expect(source).toMatchObject({
      StartingPosition: "TRIM_HORIZON",
      BatchSize: 100,
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: -1,
      MaximumRecordAgeInSeconds: 20 * 3_600,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
    });
    expect(targetOf(source?.DestinationConfig)).toBe("RelayFailures");
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
      Replicas: [
        {
          Region: { Ref: "AWS::Region" },
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        },
      ],
    });
  });

  it("is protected from deletion in production only", () => {
    const protects = (stack: typeof production) => stack.ofType("Custom::ProtectedTable");
    expect(protects(production).map(({ Properties }) => targetOf(Properties.TableName))).toEqual([
      "EventsTable",
    ]);
    expect(protects(local)).toEqual([]);
  });
});

describe("outputs", () => {
  it("state the retention of the audit trail, if it is limited", () => {
    expect(production.outputs).not.toHaveProperty("AuditDays");
    const ending = synthesized({ ...productionSettings, retention: { auditDays: 400 } });
    expect(ending.outputs.AuditDays?.Value).toBe("400");
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

  it("lets CloudFormation name the dashboard, since dashboards of all regions share their names", () => {
    const watched = synthesized({ ...productionSettings, dashboard: true });
    expect(watched.withId("Dashboard").Properties).not.toHaveProperty("DashboardName");
    expect(watched.outputs.DashboardName?.Value).toEqual({ Ref: watched.withId("Dashboard").id });
  });

  it("gives stages names of their own and no physical name that could collide", () => {
    expect([production.name, local.name]).toEqual(["income-events-test", "income-events-local"]);
    // These name another resource, a metric, a host, or a text for people.
    const naming = /^(?!(Function|Metric|Stage|Domain|Display)Name$)[A-Za-z]*Name$/;
    const named = production.resources.flatMap(({ Type, Properties }) =>
      Object.entries(Properties)
        .filter(([key, value]) => naming.test(key) && typeof value === "string")
        .map(([key, value]) => [Type, key, value]),
    );
    // An HTTP API must have a name, which need not be unique.
    expect(named).toEqual([["AWS::ApiGatewayV2::Api", "Name", "income-events-test"]]);
  });
});
