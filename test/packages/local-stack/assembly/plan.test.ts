import { rm } from "node:fs/promises";
import { join } from "node:path";
import { planStack } from "@income-events/local-stack/assembly/plan-stack.ts";
import { readAssembly } from "@income-events/local-stack/assembly/read-assembly.ts";
import { describe, expect, test } from "vitest";
import { apiResources, functionResources, queueResource, writeAssembly } from "../../../support/assembly.ts";
import { handler, place, planned, problemsOf } from "./planned.ts";

describe("a function", () => {
  test("has Lambda's defaults, and waits for no custom resource: those act while a stack is deployed", async () => {
    const { Work, ...others } = functionResources("Work");
    const { Timeout: _, ...Properties } = Work?.Properties ?? {};
    const plan = await planned({
      ...others,
      Work: { Type: "AWS::Lambda::Function", Properties, DependsOn: ["Prepared"] },
      Prepared: { Type: "Custom::Prepared", Properties: { ServiceToken: "arn:of-another-function" } },
    });
    expect(plan.functions).toMatchObject([{ timeoutSeconds: 3, memoryMb: 128, maximumRetryAttempts: 2 }]);
  });

  test("may have an environment of 4 KB", async () => {
    const environment = { A: "x".repeat(4096 - '{"A":""}'.length) };
    expect((await planned(functionResources("Work", { environment }))).functions).toHaveLength(1);
  });

  test.each([
    [{}, { level: "INFO" }],
    [{ ApplicationLogLevel: "ERROR" }, { level: "ERROR" }],
    [{ LogFormat: "Text" }, undefined],
  ])("has its log format and level: %j", async (config, jsonLog) => {
    const LoggingConfig = { LogFormat: "JSON", LogGroup: "/test/Work", SystemLogLevel: "WARN", ...config };
    const plan = await planned(functionResources("Work", { properties: { LoggingConfig } }));
    expect(plan.functions[0]?.jsonLog).toEqual(jsonLog);
  });

  test("has the permissions of its role, of attached policies and of the basic execution policy", async () => {
    const { WorkRole, ...others } = functionResources("Work");
    const basic = `arn:\${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole`;
    const Statement = [{ Effect: "Allow", Action: "sqs:SendMessage", Resource: "arn:aws:sqs:::x" }];
    const plan = await planned({
      ...others,
      WorkRole: {
        Type: "AWS::IAM::Role",
        Properties: { ...WorkRole?.Properties, ManagedPolicyArns: [{ "Fn::Sub": basic }] },
      },
      Attached: {
        Type: "AWS::IAM::Policy",
        Properties: {
          PolicyName: "Attached",
          Roles: [{ Ref: "WorkRole" }],
          PolicyDocument: { Version: "2012-10-17", Statement },
        },
      },
    });
    expect(plan.functions[0]?.policies.map(({ where }) => where)).toEqual([
      "WorkRole policy own",
      "WorkRole AWSLambdaBasicExecutionRole",
      "Attached",
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
    Ordered: { Type: "AWS::SQS::Queue", Properties: { FifoQueue: true } },
  });
  expect(plan.buckets.map(({ name }) => name)).toEqual(["test-bucket"]);
  const [long = "", ordered] = plan.queues.map(({ name }) => name);
  expect([long, long.length]).toEqual([expect.stringMatching(/^Test-Queuex+-[0-9a-f]{8}$/), 80]);
  expect(ordered).toBe("Test-Ordered.fifo");
});

test("an HTTP API has its own routes, stage and domains if a stack has several", async () => {
  const ApiId = { Ref: "Second" };
  const IntegrationUri = { "Fn::GetAtt": ["Work", "Arn"] };
  const Target = { "Fn::Join": ["", ["integrations/", { Ref: "ToOther" }]] };
  const DefaultRouteSettings = { ThrottlingRateLimit: 5, ThrottlingBurstLimit: 10 };
  const plan = await planned({
    ...functionResources("Work"),
    ...apiResources({ "POST /a": "Work" }),
    Second: { Type: "AWS::ApiGatewayV2::Api", Properties: { ProtocolType: "HTTP" } },
    SecondStage: {
      Type: "AWS::ApiGatewayV2::Stage",
      Properties: { ApiId, StageName: "$default", DefaultRouteSettings },
    },
    ToOther: {
      Type: "AWS::ApiGatewayV2::Integration",
      Properties: { ApiId, IntegrationType: "AWS_PROXY", IntegrationUri, PayloadFormatVersion: "2.0" },
    },
    SecondRoute: { Type: "AWS::ApiGatewayV2::Route", Properties: { ApiId, RouteKey: "POST /b", Target } },
    Domain: { Type: "AWS::ApiGatewayV2::DomainName", Properties: { DomainName: "hooks.example.com" } },
    Mapping: {
      Type: "AWS::ApiGatewayV2::ApiMapping",
      Properties: { ApiId, DomainName: { Ref: "Domain" }, Stage: { Ref: "SecondStage" } },
    },
  });
  expect(plan.apis[0]).not.toHaveProperty("throttle");
  const throttle = { ratePerSecond: 5, burst: 10 };
  expect(plan.apis).toMatchObject([
    { logicalId: "Api", routes: [{ key: "POST /a", function: "Work" }], domains: [] },
    { routes: [{ key: "POST /b", function: "Work" }], domains: ["hooks.example.com"], throttle },
  ]);
});

test("a directory is of the region that its stack is synthesized for, and refused with what it lacks", async () => {
  expect(() => readAssembly("/nowhere")).toThrow("/nowhere/manifest.json: is missing");
  await using assembly = await writeAssembly({
    resources: functionResources("Work"),
    assets: { Work: handler },
    environment: "aws://111111111111/eu-west-1",
  });
  expect(readAssembly(assembly.directory).region).toBe("eu-west-1");
  await rm(join(assembly.directory, "asset.Work"), { recursive: true });
  expect(() => planStack(readAssembly(assembly.directory), place)).toThrow(/Work: its asset .*asset\.Work/);
});

test("a parameter without default and value is refused", async () => {
  const template = { Parameters: { Base: { Type: "String" } } };
  const resources = functionResources("Work", { environment: { BASE: { Ref: "Base" } } });
  expect(await problemsOf(resources, { template })).toEqual([
    "Work: the parameter Base has neither a default nor a value",
  ]);
});

describe("an exported output", () => {
  const exported = (Name: unknown) => ({
    template: {
      Parameters: { Host: { Type: "String", Default: "api.example.com" } },
      Outputs: { Claim: { Value: "x", Export: { Name } }, Plain: { Value: "y" } },
    },
  });

  test("has the name that CloudFormation would give it", async () => {
    const parts = ["claims", { "Fn::Join": ["-", { "Fn::Split": [".", { Ref: "Host" }] }] }];
    const plan = await planned({}, exported({ "Fn::Join": [":", parts] }));
    expect(plan.exports).toEqual({ Claim: "claims:api-example-com" });
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
