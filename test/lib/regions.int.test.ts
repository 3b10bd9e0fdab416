import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { expect, test } from "vitest";
import { IncomeEventsStack } from "../../lib/income-events-stack.ts";
import { addTo, quickApp } from "./synthesized.ts";

const codeOf = () => lambda.Code.fromInline("// stand-in");
const inTest = { stage: "test", where: "the test", codeOf };
const inRegion =
  (region?: string, settings = {}) =>
  () =>
    addTo(new Stack(quickApp(), "Mine", region === undefined ? {} : { env: { region } }))("Events", {
      production: false,
      ...settings,
    });

test.each([
  ["cn-north-1", "China"],
  ["cn-northwest-1", "China"],
  ["us-gov-east-1", "AWS GovCloud"],
  ["us-gov-west-1", "AWS GovCloud"],
])("a stack in %s is refused, with what is missing there", (region, partition) => {
  expect(inRegion(region)).toThrow(
    new RegExp(`^Mine/Events: ${region} is in ${partition}.* no function URLs.* another partition$`),
  );
});

test.each(["ca-central-1", undefined])("a stack in %s is taken", (region) => {
  expect(inRegion(region)).not.toThrow();
});

test.each([
  ["ca-west-1, which has none", "ca-west-1", 0],
  ["eu-central-2, which has none", "eu-central-2", 0],
  ["il-central-1, which has none", "il-central-1", 0],
  ["eu-central-1", "eu-central-1", 1],
  ["a region that is not known", undefined, 1],
])("uses a function URL by default where they exist: a stack in %s", (_, region, urls) => {
  const template = Template.fromStack(Stack.of(inRegion(region, { subscribers: [{ name: "risk" }] })()));
  template.resourceCountIs("AWS::Lambda::Url", urls);
  // Otherwise each subscriber invokes its own alias.
  template.resourceCountIs("AWS::Lambda::Alias", 1 - urls);
});

const keyArn = "arn:aws:kms:eu-west-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e";

test("a key of your own is refused in a stack whose region is not known", () => {
  const encryption = { keyArn };
  expect(inRegion(undefined, { encryption })).toThrow(
    /^Mine\/Events: a key of your own .* needs a stack whose region is known, .* `env: \{ region: "eu-central-1" \}`$/,
  );
  expect(inRegion("eu-west-1", { encryption })).not.toThrow();
});

test.each([
  ["the key's region, unless its own is given", undefined, "eu-west-1"],
  ["the region that is given", { region: "eu-central-1" }, "eu-central-1"],
])("a stage's own stack with a key has %s", (_, env, expected) => {
  const written = { production: false, encryption: { keyArn } };
  const stack = new IncomeEventsStack(quickApp(), "Mine", { ...inTest, written, ...(env && { env }) });
  expect(stack.region).toBe(expected);
});
