import { App, Stack } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { describe, expect, it } from "vitest";
import { deploymentProblems } from "../../../lib/function/deployment-limits.ts";
import { keyArn, longSubscribers, productionSettings, synthesized } from "../synthesized.ts";

describe("the largest stage: twelve subscribers with long names, in a stage with a long name", () => {
  const baseUrls = { production: `https://${"a".repeat(292)}` };
  const provider = { ...productionSettings.provider, baseUrls };
  const more = { provider, subscribers: longSubscribers, tracing: "service", encryption: { keyArn } };
  const stack = synthesized({ ...productionSettings, ...more }, "s".repeat(20));

  it("has room in the environments and the roles of its functions", () => {
    expect(stack.ofType("AWS::SQS::Queue").filter(({ id }) => id.startsWith("Subscriber"))).toHaveLength(24);
  });

  it("has room in a stack of CloudFormation: 500 resources, 200 outputs, a template of 1 MB", () => {
    expect(stack.resources.length).toBeLessThanOrEqual(500);
    expect(Object.keys(stack.outputs).length).toBeLessThanOrEqual(200);
    expect(JSON.stringify(JSON.parse(stack.text), undefined, 1).length).toBeLessThan(1_000_000);
  });
});

describe("the environment of a function", () => {
  const withEnvironment = (environment: (stack: Stack, queue: Queue) => Record<string, string>) => {
    const stack = new Stack(new App(), "Given");
    new lambda.Function(stack, "Work", {
      code: lambda.Code.fromInline("// stand-in"),
      handler: "index.handler",
      runtime: lambda.Runtime.NODEJS_24_X,
      environment: environment(stack, new Queue(stack, "Q".repeat(80))),
    });
    return deploymentProblems(stack);
  };

  it("is refused with a remedy if it may exceed 4 KB with CloudFormation's names", () => {
    const many = (count: number) =>
      withEnvironment((_, { queueUrl }) =>
        Object.fromEntries(Array.from({ length: count }, (_, index) => [`U${10 + index}`, queueUrl])),
      );
    // {"U10":"https://sqs.<14>.<16>/<12>/<80>", …}
    expect(many(28)).toEqual([]);
    expect(many(29)).toEqual([
      "the environment of Given/Work/Resource can have 4235 bytes, and Lambda takes 4096: move what is known at synth to " +
        "the settings beside its code, or name queues in place of their URLs",
    ]);
  });

  it("is counted with the longest region, account and partition of AWS", () => {
    const text = (length: number) => "x".repeat(length);
    const arn = "arn:aws-us-gov:x:ap-southeast-1:000000000000:";
    const rest = 4_096 - '{"ARN":"","X":""}'.length - arn.length;
    const of = (length: number) =>
      withEnvironment((stack) => ({
        ARN: `arn:${stack.partition}:x:${stack.region}:${stack.account}:`,
        X: text(length),
      }));
    expect(of(rest)).toEqual([]);
    expect(of(rest + 1)).toHaveLength(1);
  });

  it("is refused if it names something of unknown length", () => {
    const roleArn = (stack: Stack) =>
      new iam.Role(stack, "Some", { assumedBy: new iam.AccountRootPrincipal() }).roleArn;
    expect(() => withEnvironment((stack) => ({ ARN: roleArn(stack) }))).toThrow(
      /How long can Some\w* Arn be\?/,
    );
  });
});

it("the policies of a role are refused with a remedy if they may exceed IAM's limit", () => {
  const withQueues = (count: number) => {
    const stack = new Stack(new App(), "Given");
    const queues = Array.from({ length: count }, (_, index) => new Queue(stack, `${"Q".repeat(80)}${index}`));
    const resources = queues.map(({ queueArn }) => queueArn);
    const statements = [new iam.PolicyStatement({ actions: ["sqs:SendMessage"], resources })];
    new iam.Role(stack, "Sender", {
      assumedBy: new iam.ServicePrincipal("lambda.amazonaws.com"),
      inlinePolicies: { permissions: new iam.PolicyDocument({ statements }) },
    });
    return deploymentProblems(stack);
  };
  expect(withQueues(75)).toEqual([]);
  expect(withQueues(85)).toEqual([
    expect.stringMatching(
      /^the policies in Given\/Sender\/Resource can have \d+ characters, and IAM takes 10240: allow/,
    ),
  ]);
});
