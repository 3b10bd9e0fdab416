import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { expect, it } from "vitest";
import { IncomeEvents } from "../../lib/construct/income-events.ts";
import { pipelinesIn, resourcesOf } from "../../packages/cli/core/pipelines.ts";
import { quickApp } from "./synthesized.ts";

/** A stack with a pipeline for each id. */
function templateWith(ids: readonly string[]): Template {
  const stack = new Stack(quickApp(), "Mine");
  const codeOf = () => lambda.Code.fromInline("// stand-in");
  const written = { production: false, subscribers: [{ name: "billing" }] };
  for (const id of ids) new IncomeEvents(stack, id, { stage: "test", where: "the test", codeOf, written });
  return Template.fromStack(stack);
}

it("distinguishes the logs and alarms of a stack's pipelines by the prefix of their outputs", () => {
  const ids = ["Payroll", "PayrollTest"];
  const template = templateWith(ids);
  const names = Object.keys(template.findOutputs("*"));
  const pipelines = pipelinesIn("Mine", Object.fromEntries(names.map((name) => [name, "told"])));
  expect(pipelines.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  const alone = templateWith(["Payroll"]);
  for (const type of ["AWS::Logs::LogGroup", "AWS::CloudWatch::Alarm"]) {
    const all = Object.keys(template.findResources(type));
    const count = Object.keys(alone.findResources(type)).length;
    expect(count).toBeGreaterThan(5);
    const own = pipelines.map((pipeline) => all.filter((id) => resourcesOf(pipeline, pipelines).test(id)));
    expect(own.map(({ length }) => length)).toEqual([count, count]);
    expect(own.flat().toSorted()).toEqual(all.toSorted());
  }
});
