import { rm } from "node:fs/promises";
import { join } from "node:path";
import { planStack } from "@income-events/local-stack/assembly/plan-stack.ts";
import { readAssembly } from "@income-events/local-stack/assembly/read-assembly.ts";
import { describe, expect, test } from "vitest";
import {
  apiResources,
  functionResources,
  queueResource,
  tableResource,
  writeAssembly,
} from "../../../support/assembly.ts";
import { handler, place, planned, problemsOf } from "./planned.ts";

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

test("a key has an ARN that policies and queues name, and is not run", async () => {
  const arn = { "Fn::GetAtt": ["Key", "Arn"] };
  const plan = await planned({
    ...functionResources("Work", { allow: [["kms:Decrypt", arn]], environment: { KEY: arn } }),
    Key: { Type: "AWS::KMS::Key" },
  });
  expect(plan.functions[0]?.environment.KEY).toMatch(/^arn:aws:kms:[a-z0-9-]+:\d{12}:key\/[0-9a-f-]{36}$/);
  expect(plan.notRun).toEqual(["Key (AWS::KMS::Key)"]);
});

test("a global table is run as the replica in the stage's region, with its stream and expiry", async () => {
  const properties = {
    Replicas: [{ Region: { Ref: "AWS::Region" }, Tags: [] }, { Region: "eu-west-1" }],
    WriteOnDemandThroughputSettings: { MaxWriteRequestUnits: 500 },
    TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
  };
  const [table] = (await planned(tableResource("Items", properties))).tables;
  const Items = { ...tableResource("Items", properties).Items, Type: "AWS::DynamoDB::GlobalTable" };
  const { tables } = await planned({ ...functionResources("Work"), Items });
  expect(tables).toEqual([table]);
  expect(table).toMatchObject({ timeToLiveAttribute: "expiresAt", streamArn: expect.any(String) });
});

test("unsupported resources that nothing depends on are omitted, and reported", async () => {
  const plan = await planned({
    ...functionResources("Work"),
    Dashboard: { Type: "AWS::CloudWatch::Dashboard", Properties: { DashboardBody: { Ref: "Work" } } },
    Metadata: { Type: "AWS::CDK::Metadata" },
  });
  expect(plan.notRun).toEqual(["Dashboard (AWS::CloudWatch::Dashboard)"]);
});

describe("parameters", () => {
  const template = { Parameters: { Base: { Type: "String", Default: "https://example.com" } } };
  const resources = functionResources("Work", { environment: { BASE: { Ref: "Base" } } });

  test("take a value from the caller", async () => {
    const plan = await planned(resources, { template, parameters: { Base: "http://127.0.0.1:1" } });
    expect(plan.functions[0]?.environment).toEqual({ BASE: "http://127.0.0.1:1" });
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

describe("an HTTP API", () => {
  test("has its routes with the functions behind them", async () => {
    const plan = await planned({
      ...functionResources("Work"),
      ...apiResources({ "POST /a": "Work", $default: "Work" }),
    });
    expect(plan.apis[0]?.routes).toMatchObject([
      { key: "POST /a", function: "Work", timeoutMilliseconds: 30_000 },
      { key: "$default", function: "Work" },
    ]);
  });

  test("has its own routes, stage and domains if a stack has several", async () => {
    const DefaultRouteSettings = { ThrottlingRateLimit: 5, ThrottlingBurstLimit: 10 };
    const ApiId = { Ref: "Second" };
    const IntegrationUri = { "Fn::GetAtt": ["Work", "Arn"] };
    const Target = { "Fn::Join": ["", ["integrations/", { Ref: "ToOther" }]] };
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
    expect(plan.apis).toMatchObject([
      { logicalId: "Api", routes: [{ key: "POST /a", function: "Work" }], domains: [] },
      {
        logicalId: "Second",
        routes: [{ key: "POST /b", function: "Work" }],
        domains: ["hooks.example.com"],
        throttle: { ratePerSecond: 5, burst: 10 },
      },
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
