import { describe, expect, test } from "vitest";
import { functionResources, queueResource, type Resources } from "../../../support/assembly.ts";
import { planned, problemsOf } from "./planned.ts";

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

  test("whose environment is over 4 KB is refused", async () => {
    const ofBytes = (bytes: number) =>
      functionResources("Work", { environment: { A: "x".repeat(bytes - '{"A":""}'.length) } });
    expect((await planned(ofBytes(4096))).functions).toHaveLength(1);
    expect(await problemsOf(ofBytes(4097))).toEqual([
      "Work: its environment has 4097 bytes, and Lambda takes 4096 in all",
    ]);
  });

  test("has Lambda's defaults if the template sets none", async () => {
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
      "inline code",
      functionResources("Work", { properties: { Code: { ZipFile: "exports.handler = 1" } } }),
      "Work: its properties can't be kept here: Code.S3Bucket",
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
      "a topic, which is ignored where no function needs it",
      {
        ...functionResources("Work", { environment: { TOPIC: { Ref: "Topic" } } }),
        Topic: { Type: "AWS::SNS::Topic" },
      },
      "Work: it depends on Topic of type AWS::SNS::Topic, which the local runner does not run",
    ],
    [
      "an unknown resource that would call it",
      {
        ...functionResources("Work"),
        Version: { Type: "AWS::Lambda::Version", Properties: { FunctionName: { Ref: "Work" } } },
      },
      "Version: its type AWS::Lambda::Version is not known here, and it names Work",
    ],
    [
      "an alias of a version",
      {
        ...functionResources("Work"),
        Alias: {
          Type: "AWS::Lambda::Alias",
          Properties: { FunctionName: { Ref: "Work" }, FunctionVersion: "1", Name: "live" },
        },
      },
      "Alias: its properties can't be kept here:",
    ],
    [
      "a URL that is open to all",
      {
        ...functionResources("Work"),
        Address: {
          Type: "AWS::Lambda::Url",
          Properties: { AuthType: "NONE", TargetFunctionArn: { "Fn::GetAtt": ["Work", "Arn"] } },
        },
      },
      "Address: its properties can't be kept here: AuthType",
    ],
  ])("with %s is refused by name", async (_, resources, expected) => {
    expect(await problemsOf(resources)).toEqual([expect.stringContaining(expected)]);
  });

  test("that only waits for a custom resource runs: those act while a stack is deployed", async () => {
    const { Work, ...others } = functionResources("Work");
    const Type = "AWS::Lambda::Function";
    const plan = await planned({
      ...others,
      Work: { ...Work, Type, DependsOn: ["Prepared"] },
      Prepared: { Type: "Custom::Prepared", Properties: { ServiceToken: "arn:of-another-function" } },
    });
    expect(plan.functions).toMatchObject([{ logicalId: "Work" }]);
  });

  test("whose role another service assumes is refused", async () => {
    const resources = functionResources("Work");
    const text = JSON.stringify(resources).replace("lambda.amazonaws.com", "ec2.amazonaws.com");
    expect(await problemsOf(JSON.parse(text))).toEqual([
      "Work: its role WorkRole does not let lambda.amazonaws.com assume it",
    ]);
  });
});
