import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { StackPlan } from "@income-events/local-stack/assembly/plan.ts";
import { planStack } from "@income-events/local-stack/assembly/plan-stack.ts";
import { UnrunnableAssemblyError } from "@income-events/local-stack/assembly/problems.ts";
import { readAssembly } from "@income-events/local-stack/assembly/read-assembly.ts";
import { describe, expect, test } from "vitest";
import {
  type AssemblySource,
  apiResources,
  functionResources,
  mappingResource,
  queueResource,
  type Resources,
  readingStreams,
  receiving,
  tableResource,
  writeAssembly,
} from "../../../support/assembly.ts";

const handler = "export const handler = async () => null;";
const place = { region: "eu-central-1", account: "000000000000" };

async function planned(
  resources: Resources,
  more: Partial<AssemblySource> & { parameters?: Record<string, string> } = {},
): Promise<StackPlan> {
  await using assembly = await writeAssembly({ resources, assets: { Work: handler }, ...more });
  return planStack(readAssembly(assembly.directory), { ...place, parameters: more.parameters ?? {} });
}

/** "logical id: what" of everything that keeps the resources from running. */
async function problemsOf(resources: Resources, more: Partial<AssemblySource> = {}): Promise<string[]> {
  const error: unknown = await planned(resources, more).catch((reason: unknown) => reason);
  if (!(error instanceof UnrunnableAssemblyError)) throw new Error(`nothing was refused: ${String(error)}`);
  for (const { remedy } of error.problems) expect(remedy).not.toBe("");
  return error.problems.map(({ logicalId, what }) => `${logicalId}: ${what}`);
}

describe("a function", () => {
  test("gets its bundle, its limits and its resolved environment", async () => {
    const plan = await planned({
      ...queueResource("Queue"),
      ...functionResources("Work", {
        environment: { QUEUE_ARN: { "Fn::GetAtt": ["Queue", "Arn"] }, COUNT: 3 },
        properties: { MemorySize: 256, Timeout: 7, ReservedConcurrentExecutions: 2 },
      }),
    });
    expect(plan.functions).toMatchObject([
      {
        logicalId: "Work",
        arn: "arn:aws:lambda:eu-central-1:000000000000:function:Work",
        directory: expect.stringMatching(/asset\.Work$/),
        environment: { QUEUE_ARN: "arn:aws:sqs:eu-central-1:000000000000:Queue", COUNT: "3" },
        timeoutSeconds: 7,
        memoryMb: 256,
        reservedConcurrency: 2,
        logGroupName: "/test/Work",
      },
    ]);
  });

  test("has Lambda's defaults where the template is silent", async () => {
    const { Work, ...others } = functionResources("Work");
    const { Timeout: _, ...properties } = Work?.Properties ?? {};
    const plan = await planned({
      ...others,
      Work: { Type: "AWS::Lambda::Function", Properties: properties },
    });
    expect(plan.functions).toMatchObject([{ timeoutSeconds: 3, memoryMb: 128, maximumRetryAttempts: 2 }]);
  });

  test("has its log format and level; traces, which are not kept here, stop nothing", async () => {
    const LoggingConfig = { LogFormat: "JSON", LogGroup: "/test/Work", SystemLogLevel: "WARN" };
    const planOf = (config: object) =>
      planned(
        functionResources("Work", {
          properties: { TracingConfig: { Mode: "Active" }, LoggingConfig: { ...LoggingConfig, ...config } },
        }),
      );
    expect((await planOf({})).functions).toMatchObject([{ jsonLog: { level: "INFO" } }]);
    const level = { ApplicationLogLevel: "ERROR" };
    expect((await planOf(level)).functions).toMatchObject([{ jsonLog: { level: "ERROR" } }]);
    expect((await planOf({ LogFormat: "Text" })).functions[0]).not.toHaveProperty("jsonLog");
  });

  test("has the permissions of its role, of attached policies and of the basic execution policy", async () => {
    const { WorkRole, ...others } = functionResources("Work");
    const plan = await planned({
      ...others,
      WorkRole: {
        Type: "AWS::IAM::Role",
        Properties: {
          ...WorkRole?.Properties,
          ManagedPolicyArns: [
            { "Fn::Sub": `arn:\${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole` },
          ],
        },
      },
      Attached: {
        Type: "AWS::IAM::Policy",
        Properties: {
          PolicyName: "Attached",
          Roles: [{ Ref: "WorkRole" }],
          PolicyDocument: {
            Version: "2012-10-17",
            Statement: [{ Effect: "Allow", Action: "sqs:SendMessage", Resource: "arn:aws:sqs:::x" }],
          },
        },
      },
    });
    expect(plan.functions[0]?.policies.map(({ where }) => where)).toEqual([
      "WorkRole policy own",
      "WorkRole AWSLambdaBasicExecutionRole",
      "Attached",
    ]);
  });

  test.each<[string, Resources, string]>([
    [
      "another runtime",
      functionResources("Work", { properties: { Runtime: "python3.13" } }),
      "Work: its runtime python3.13 can't run here",
    ],
    ["a missing asset", functionResources("Work", { asset: "Gone" }), "Work: its asset Gone.zip is missing"],
    [
      "inline code",
      functionResources("Work", { properties: { Code: { ZipFile: "exports.handler = 1" } } }),
      "Work: its properties can't be kept here: Code.S3Bucket",
    ],
    [
      "layers",
      functionResources("Work", { properties: { Layers: ["arn:x"] } }),
      'Work: its properties can\'t be kept here: Unrecognized key: "Layers"',
    ],
    [
      "an unknown resource in its environment",
      {
        ...functionResources("Work", { environment: { STREAM: { Ref: "Stream" } } }),
        Stream: { Type: "AWS::Kinesis::Stream" },
      },
      "Work: it depends on Stream of type AWS::Kinesis::Stream, which the local runner does not run",
    ],
    [
      "an unknown resource in its policies",
      {
        ...functionResources("Work", { allow: [["kms:Decrypt", { "Fn::GetAtt": ["Key", "Arn"] }]] }),
        Key: { Type: "AWS::KMS::Key" },
      },
      "Work: it depends on Key of type AWS::KMS::Key, which the local runner does not run",
    ],
    [
      "an unknown resource by DependsOn",
      {
        ...functionResources("Work"),
        Work: { Type: "", ...functionResources("Work").Work, DependsOn: ["Cluster"] },
        Cluster: { Type: "AWS::RDS::DBCluster" },
      },
      "Work: it depends on Cluster of type AWS::RDS::DBCluster, which the local runner does not run",
    ],
    [
      "a topic, which is ignored where no function needs it",
      {
        ...functionResources("Work", { environment: { TOPIC: { Ref: "Topic" } } }),
        Topic: { Type: "AWS::SNS::Topic" },
      },
      "Work: it depends on Topic of type AWS::SNS::Topic, which the local runner does not run",
    ],
    [
      "an intrinsic function that is not known",
      functionResources("Work", { environment: { X: { "Fn::GetAZs": "" } } }),
      "Work: the intrinsic function Fn::GetAZs is not known here",
    ],
    [
      "a policy that the evaluator does not understand",
      functionResources("Work", { allow: [["sqs:*Message", "*"]] }),
      "Work: WorkRole policy own, statement 1: the local runner does not understand Action",
    ],
    [
      "an unknown resource that would call it",
      {
        ...functionResources("Work"),
        Address: { Type: "AWS::Lambda::Url", Properties: { TargetFunctionArn: { Ref: "Work" } } },
      },
      "Address: its type AWS::Lambda::Url is not known here, and it names Work",
    ],
  ])("with %s is refused by name", async (_, resources, expected) => {
    expect(await problemsOf(resources)).toEqual([expect.stringContaining(expected)]);
  });

  test("whose role another service assumes is refused", async () => {
    const resources = functionResources("Work");
    const text = JSON.stringify(resources).replace("lambda.amazonaws.com", "ec2.amazonaws.com");
    expect(await problemsOf(JSON.parse(text))).toEqual([
      "Work: its role WorkRole does not let lambda.amazonaws.com assume it",
    ]);
  });
});

test("everything that can't be run is listed at once", async () => {
  const problems = await problemsOf({
    ...functionResources("Work", { properties: { Runtime: "python3.13" } }),
    ...functionResources("Gone"),
    ...queueResource("Queue"),
    Rule: { Type: "AWS::Events::Rule", Properties: { EventPattern: { source: ["x"] } } },
    Mapping: {
      Type: "AWS::Lambda::EventSourceMapping",
      Properties: { EventSourceArn: "arn:aws:kafka:::x", FunctionName: { Ref: "Work" } },
    },
  });
  expect(problems).toEqual([
    expect.stringMatching(/^Work: .*python3\.13/),
    expect.stringMatching(/^Gone: its asset Gone\.zip is missing/),
    "Mapping: its event source arn:aws:kafka:::x is not one that the local runner knows",
    expect.stringMatching(/^Rule: .*event pattern is not a schedule/),
  ]);
});

test("what nothing depends on is left out, and said", async () => {
  const plan = await planned({
    ...functionResources("Work"),
    Dashboard: { Type: "AWS::CloudWatch::Dashboard", Properties: { DashboardBody: { Ref: "Work" } } },
    Metadata: { Type: "AWS::CDK::Metadata" },
  });
  expect(plan.notRun).toEqual(["Dashboard (AWS::CloudWatch::Dashboard)"]);
});

describe("an alarm", () => {
  const topic = { Type: "AWS::SNS::Topic" };
  const filter = {
    Type: "AWS::Logs::MetricFilter",
    Properties: {
      FilterPattern: '{ $.code = "GAP_FOUND" }',
      LogGroupName: { Ref: "WorkLogs" },
      MetricTransformations: [{ MetricName: "Gap", MetricNamespace: "test", MetricValue: "$.count" }],
    },
  };
  const properties = {
    AlarmDescription: { "Fn::Join": ["", ["Read ", { Ref: "WorkLogs" }]] },
    ComparisonOperator: "GreaterThanOrEqualToThreshold",
    EvaluationPeriods: 2,
    MetricName: "Gap",
    Namespace: "test",
    Period: 60,
    Statistic: "Sum",
    Threshold: 1,
    TreatMissingData: "notBreaching",
    AlarmActions: [{ Ref: "Topic" }],
  };
  const alarm = (changes: object = {}) => ({
    Type: "AWS::CloudWatch::Alarm",
    Properties: { ...properties, ...changes },
  });

  test("watches the metric of a metric filter on a log group", async () => {
    const plan = await planned({
      ...functionResources("Work"),
      Filter: filter,
      Topic: topic,
      Alarm: alarm(),
    });
    expect(plan.metricFilters).toEqual([
      {
        logicalId: "Filter",
        logGroupName: "/test/Work",
        pattern: { field: "code", text: "GAP_FOUND" },
        metric: { namespace: "test", name: "Gap" },
        value: { field: "count" },
      },
    ]);
    expect(plan.alarms).toEqual([
      {
        logicalId: "Alarm",
        name: "Test-Alarm",
        description: "Read /test/Work",
        metrics: [{ namespace: "test", name: "Gap", dimensions: {}, statistic: "Sum" }],
        taken: "alone",
        periodSeconds: 60,
        breaches: "above",
        breachesWhenMissing: false,
        threshold: 1,
        evaluationPeriods: 2,
        datapointsToAlarm: 2,
        actions: ["Topic"],
      },
    ]);
  });

  test("watches the errors of a function", async () => {
    const errors = {
      Namespace: "AWS/Lambda",
      MetricName: "Errors",
      Dimensions: [{ Name: "FunctionName", Value: { Ref: "Work" } }],
    };
    const plan = await planned({ ...functionResources("Work"), Topic: topic, Alarm: alarm(errors) });
    expect(plan.alarms[0]?.metrics).toEqual([
      { namespace: "AWS/Lambda", name: "Errors", dimensions: { FunctionName: "Work" }, statistic: "Sum" },
    ]);
  });

  const series = (id: string, name: string) => ({
    Id: id,
    MetricStat: {
      Metric: {
        Namespace: "AWS/Lambda",
        MetricName: name,
        Dimensions: [{ Name: "FunctionName", Value: { Ref: "Work" } }],
      },
      Period: 300,
      Stat: "Sum",
    },
    ReturnData: false,
  });
  const { MetricName: _, Namespace: __, Period: ___, Statistic: ____, ...rest } = properties;
  const together = (Expression: string, ...metrics: object[]) => ({
    Type: "AWS::CloudWatch::Alarm",
    Properties: { ...rest, Metrics: [{ Id: "all", Expression }, ...metrics] },
  });

  test("watches several metrics together, and a lack of them", async () => {
    const lack = { ComparisonOperator: "LessThanOrEqualToThreshold", TreatMissingData: "breaching" };
    const { Properties } = together(
      "MAX(FILL(METRICS(), 0))",
      series("a", "Errors"),
      series("b", "Throttles"),
    );
    const Alarm = { Type: "AWS::CloudWatch::Alarm", Properties: { ...Properties, ...lack } };
    const plan = await planned({ ...functionResources("Work"), Topic: topic, Alarm });
    expect(plan.alarms).toMatchObject([
      {
        metrics: [{ name: "Errors" }, { name: "Throttles" }],
        taken: "as greatest",
        periodSeconds: 300,
        breaches: "below",
        breachesWhenMissing: true,
      },
    ]);
  });

  test("on an expression in another form is refused", async () => {
    const Alarm = together("a / b", series("a", "Errors"), series("b", "Throttles"));
    expect(await problemsOf({ ...functionResources("Work"), Topic: topic, Alarm })).toEqual([
      expect.stringMatching(/Expression/),
    ]);
  });

  test("on counts of events is refused where the event source counts none", async () => {
    const metric = {
      Namespace: "AWS/Lambda",
      MetricName: "DroppedEventCount",
      Dimensions: [{ Name: "EventSourceMappingUUID", Value: "somebody-elses" }],
    };
    expect(await problemsOf({ ...functionResources("Work"), Topic: topic, Alarm: alarm(metric) })).toEqual([
      expect.stringMatching(/its metric AWS\/Lambda DroppedEventCount is not measured here/),
    ]);
  });

  test.each([
    ["a metric that nothing measures", { MetricName: "Other" }, /its metric test Other is not measured here/],
    ["another dimension", { Dimensions: [{ Name: "QueueName", Value: "x" }] }, /its metric test Gap/],
    ["another statistic", { Statistic: "Average" }, /Statistic/],
    ["another comparison", { ComparisonOperator: "LessThanThreshold" }, /ComparisonOperator/],
    ["missing data that is ignored", { TreatMissingData: "ignore" }, /TreatMissingData/],
    ["a property that is not known here", { ThresholdMetricId: "x" }, /ThresholdMetricId/],
  ])("on %s is refused", async (_, changes, expected) => {
    expect(
      await problemsOf({ ...functionResources("Work"), Filter: filter, Topic: topic, Alarm: alarm(changes) }),
    ).toEqual([expect.stringMatching(expected)]);
  });

  test("with a filter pattern in another form is refused by name", async () => {
    const other = { ...filter, Properties: { ...filter.Properties, FilterPattern: "ERROR" } };
    expect(await problemsOf({ ...functionResources("Work"), Filter: other })).toEqual([
      expect.stringMatching(/^Filter: the filter pattern ERROR is not one/),
    ]);
  });
});

describe("parameters", () => {
  const template = { Parameters: { Base: { Type: "String", Default: "https://example.com" } } };
  const resources = functionResources("Work", { environment: { BASE: { Ref: "Base" } } });

  test("have their default", async () => {
    const plan = await planned(resources, { template });
    expect(plan.functions[0]?.environment).toEqual({ BASE: "https://example.com" });
  });

  test("take a value from the caller", async () => {
    const plan = await planned(resources, { template, parameters: { Base: "http://127.0.0.1:1" } });
    expect(plan.functions[0]?.environment).toEqual({ BASE: "http://127.0.0.1:1" });
  });

  test("that the template does not have are refused", async () => {
    await expect(planned(resources, { template, parameters: { Bass: "x" } })).rejects.toThrow(
      "Bass: a value is given for it, and the template has no such parameter. Its parameters are Base.",
    );
  });

  test("without default and value are refused", async () => {
    const bare = { Parameters: { Base: { Type: "String" } } };
    expect(await problemsOf(resources, { template: bare })).toEqual([
      "Work: the parameter Base has neither a default nor a value",
    ]);
  });
});

test("a resource whose condition does not hold is not there", async () => {
  const plan = await planned(
    { ...queueResource("Kept"), Left: { Type: "AWS::SQS::Queue", Condition: "Never" } },
    { template: { Conditions: { Never: { "Fn::Equals": ["a", "b"] } } } },
  );
  expect(plan.queues.map(({ name }) => name)).toEqual(["Kept"]);
});

test("unnamed resources are named after stack and logical id, within the service's limit", async () => {
  const plan = await planned({
    Bucket: { Type: "AWS::S3::Bucket" },
    ["Queue".padEnd(100, "x")]: { Type: "AWS::SQS::Queue" },
  });
  expect(plan.buckets.map(({ name }) => name)).toEqual(["test-bucket"]);
  expect(plan.queues[0]?.name).toMatch(/^Test-Queuex+-[0-9a-f]{8}$/);
  expect(plan.queues[0]?.name).toHaveLength(80);
});

describe("an event source mapping", () => {
  const store = (allow: NonNullable<Parameters<typeof functionResources>[1]>["allow"] = []): Resources =>
    functionResources("Work", { allow });

  test("has Lambda's defaults, and the filters, limits and destination of the template", async () => {
    const plan = await planned({
      ...queueResource("Queue"),
      ...tableResource("Items"),
      Failures: { Type: "AWS::S3::Bucket" },
      ...store([receiving("Queue"), readingStreams, [["s3:PutObject", "s3:ListBucket"], "*"]]),
      ...mappingResource("FromQueue", ["Queue", "Arn"], "Work", { ScalingConfig: { MaximumConcurrency: 2 } }),
      ...mappingResource("FromItems", ["Items", "StreamArn"], "Work", {
        StartingPosition: "TRIM_HORIZON",
        MaximumRetryAttempts: 5,
        BisectBatchOnFunctionError: true,
        MaximumRecordAgeInSeconds: 72_000,
        DestinationConfig: { OnFailure: { Destination: { "Fn::GetAtt": ["Failures", "Arn"] } } },
        FilterCriteria: { Filters: [{ Pattern: '{"eventName":["INSERT"]}' }] },
      }),
    });
    expect(plan.sources).toMatchObject([
      { kind: "queue", batchSize: 10, windowSeconds: 0, maximumConcurrency: 2, reportsItemFailures: true },
      {
        kind: "stream",
        batchSize: 100,
        maximumRetryAttempts: 5,
        bisects: true,
        maximumRecordAgeSeconds: 72_000,
        failureBucket: { logicalId: "Failures" },
      },
    ]);
  });

  test("whose role lacks permissions on the queue is refused, naming each", async () => {
    const problems = await problemsOf({
      ...queueResource("Queue"),
      ...store([["sqs:ReceiveMessage", { "Fn::GetAtt": ["Queue", "Arn"] }]]),
      ...mappingResource("Mapping", ["Queue", "Arn"], "Work"),
    });
    const arn = "arn:aws:sqs:eu-central-1:000000000000:Queue";
    expect(problems).toEqual([
      `Mapping: the role of Work may not sqs:DeleteMessage on ${arn}`,
      `Mapping: the role of Work may not sqs:GetQueueAttributes on ${arn}`,
    ]);
  });

  test("whose role lacks permissions on stream and destination is refused, naming each", async () => {
    const problems = await problemsOf({
      ...tableResource("Items"),
      Failures: { Type: "AWS::S3::Bucket" },
      ...store(),
      ...mappingResource("Mapping", ["Items", "StreamArn"], "Work", {
        StartingPosition: "LATEST",
        DestinationConfig: { OnFailure: { Destination: { "Fn::GetAtt": ["Failures", "Arn"] } } },
      }),
    });
    const actions = problems.map((problem) => /may not (\S+)/.exec(problem)?.[1]);
    expect(actions).toEqual([
      "dynamodb:DescribeStream",
      "dynamodb:GetRecords",
      "dynamodb:GetShardIterator",
      "dynamodb:ListStreams",
      "s3:PutObject",
      "s3:ListBucket",
    ]);
  });

  test("of a queue whose visibility is below the function's time-out is refused", async () => {
    const problems = await problemsOf({
      ...queueResource("Queue", { VisibilityTimeout: 9 }),
      ...store([receiving("Queue")]),
      ...mappingResource("Mapping", ["Queue", "Arn"], "Work"),
    });
    expect(problems).toEqual([
      "Mapping: the visibility time-out of Queue (9 s) is less than the time-out of Work (10 s)",
    ]);
  });

  test("with a filter that is not known is refused", async () => {
    const problems = await problemsOf({
      ...queueResource("Queue"),
      ...store([receiving("Queue")]),
      ...mappingResource("Mapping", ["Queue", "Arn"], "Work", {
        FilterCriteria: { Filters: [{ Pattern: '{"body":[{"cidr":"10.0.0.0/8"}]}' }] },
      }),
    });
    expect(problems).toEqual([expect.stringMatching(/^Mapping: its filter pattern .*cidr/)]);
  });
});

describe("an HTTP API", () => {
  test("has its routes with the functions behind them", async () => {
    const plan = await planned({
      ...functionResources("Work"),
      ...apiResources({ "POST /a": "Work", $default: "Work" }),
    });
    expect(plan.api?.routes).toMatchObject([
      { key: "POST /a", function: "Work", timeoutMilliseconds: 30_000 },
      { key: "$default", function: "Work" },
    ]);
  });

  test("with an authorizer is refused", async () => {
    const resources = apiResources({ "POST /a": "Work" });
    const problems = await problemsOf({
      ...functionResources("Work"),
      ...resources,
      Route0: {
        Type: "AWS::ApiGatewayV2::Route",
        Properties: { ...resources.Route0?.Properties, AuthorizationType: "JWT" },
      },
    });
    expect(problems).toEqual([expect.stringMatching(/^Route0: .*AuthorizationType/)]);
  });
});

describe("reading a directory", () => {
  test("that is none is refused, naming the file", () => {
    expect(() => readAssembly("/nowhere")).toThrow("/nowhere/manifest.json: is missing");
  });

  test("whose asset directory is gone is refused by the function's name", async () => {
    await using assembly = await writeAssembly({
      resources: functionResources("Work"),
      assets: { Work: handler },
    });
    await rm(join(assembly.directory, "asset.Work"), { recursive: true });
    expect(() => planStack(readAssembly(assembly.directory), place)).toThrow(/Work: its asset .*asset\.Work/);
  });

  test("takes the region that the stack is synthesized for", async () => {
    await using assembly = await writeAssembly({
      resources: {},
      environment: "aws://111111111111/eu-west-1",
    });
    expect(readAssembly(assembly.directory).region).toBe("eu-west-1");
  });
});

describe("an exported output", () => {
  const exported = (Name: unknown) => ({
    template: {
      Parameters: { Host: { Type: "String", Default: "api.example.com" } },
      Outputs: { Claim: { Value: "x", Export: { Name } }, Plain: { Value: "y" } },
    },
  });

  test("has the name that CloudFormation would give it", async () => {
    const Name = {
      "Fn::Join": [":", ["claims", { "Fn::Join": ["-", { "Fn::Split": [".", { Ref: "Host" }] }] }]],
    };
    expect((await planned({}, exported(Name))).exports).toEqual({ Claim: "claims:api-example-com" });
  });

  test("is refused under a name that CloudFormation would refuse", async () => {
    expect(await problemsOf({}, exported({ Ref: "Host" }))).toEqual([
      "Claim: CloudFormation takes no export of the name api.example.com",
    ]);
    expect(await problemsOf(queueResource("Queue"), exported({ Ref: "Queue" }))).toEqual([
      "Claim: the name of its export depends on the resource Queue",
    ]);
  });
});
