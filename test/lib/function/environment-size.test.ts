import { App, Stack } from "aws-cdk-lib";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { describe, expect, it } from "vitest";
import { environmentProblems } from "../../../lib/function/environment-size.ts";
import { productionSettings, synthesized } from "../synthesized.ts";

describe("the environment of a function", () => {
  it("has room for twelve subscribers with long names in a stage with a long name", () => {
    const subscribers = Array.from({ length: 12 }, (_, index) => ({
      name: `${"a".repeat(37)}-${String(index).padStart(2, "0")}`,
    }));
    const stage = "s".repeat(20);
    const baseUrls = { production: `https://${"a".repeat(292)}` };
    const provider = { ...productionSettings.provider, baseUrls };
    const stack = synthesized({ ...productionSettings, provider, subscribers }, stage);
    expect(stack.ofType("AWS::SQS::Queue").filter(({ id }) => id.startsWith("Subscriber"))).toHaveLength(24);
  });

  const withEnvironment = (environment: (stack: Stack, queue: Queue) => Record<string, string>) => {
    const stack = new Stack(new App(), "Given");
    new lambda.Function(stack, "Work", {
      code: lambda.Code.fromInline("// stand-in"),
      handler: "index.handler",
      runtime: lambda.Runtime.NODEJS_24_X,
      environment: environment(stack, new Queue(stack, "Q".repeat(80))),
    });
    return environmentProblems(stack);
  };

  it("is refused with a remedy where it can be over 4 KB with the names that CloudFormation makes", () => {
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
    const arn = "arn:aws-iso-b:x:ap-southeast-1:000000000000:";
    const rest = 4_096 - '{"ARN":"","X":""}'.length - arn.length;
    const of = (length: number) =>
      withEnvironment((stack) => ({
        ARN: `arn:${stack.partition}:x:${stack.region}:${stack.account}:`,
        X: text(length),
      }));
    expect(of(rest)).toEqual([]);
    expect(of(rest + 1)).toHaveLength(1);
  });

  it("is refused where it names something whose length nobody has said", () => {
    expect(() => withEnvironment((_, queue) => ({ ARN: queue.queueArn }))).toThrow(
      /How long can Q+\w* Arn be in an environment\?/,
    );
  });
});
