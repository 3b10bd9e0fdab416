import { App, CfnOutput, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { expect, test } from "vitest";
import { IncomeEvents } from "../../lib/construct/income-events.ts";
import { productionSettings } from "./synthesized.ts";

const codeOf = () => lambda.Code.fromInline("// stand-in");
const stackWith = (...pipelines: readonly (readonly [id: string, written: object])[]) => {
  const stack = new Stack(new App({ builtinCloudFormationValidation: false }), "Mine");
  const made = pipelines.map(
    ([id, written]) => new IncomeEvents(stack, id, { stage: "test", where: "the test", codeOf, written }),
  );
  return { stack, made };
};

test("others of the app refer to the table, the API and its name", () => {
  const certificateArn = "arn:aws:acm:eu-central-1:123456789012:certificate/4f6e";
  const webhooks = { customDomain: { name: "hooks.example.com", certificateArn } };
  const { stack, made } = stackWith(["Named", { ...productionSettings, webhooks }]);
  new CfnOutput(stack, "Table", { value: made[0]?.table.tableArn ?? "" });
  new CfnOutput(stack, "Api", { value: made[0]?.api.apiId ?? "" });
  new CfnOutput(stack, "Target", { value: made[0]?.domainName?.regionalDomainName ?? "" });
  const outputOf = (name: string) => JSON.stringify(Template.fromStack(stack).findOutputs(name)[name]?.Value);
  expect(outputOf("Table")).toMatch(/"NamedEventsTable[0-9A-F]{8}","Arn"/);
  expect(outputOf("Api")).toMatch(/"Ref":"NamedApi[0-9A-F]{8}"/);
  expect(outputOf("Target")).toMatch(/"NamedDomainName[0-9A-F]{8}","RegionalDomainName"/);
  expect(stackWith(["Nameless", productionSettings]).made[0]?.domainName).toBeUndefined();
});

test("a stack with more resources than CloudFormation takes is refused with a remedy", () => {
  const subscribers = Array.from({ length: 12 }, (_, index) => ({ name: `s${index}` }));
  const full = { ...productionSettings, subscribers };
  const without = { ...full, register: { enabled: false } };
  const { stack } = stackWith(["First", full], ["Second", without], ["Third", without]);
  expect(() => Template.fromStack(stack)).toThrow(
    /Mine has \d{3} resources, and CloudFormation takes 500 in a stack: give each pipeline a stack of its own/,
  );
});
