import { App, Stack } from "aws-cdk-lib";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { expect, test } from "vitest";
import { IncomeEvents } from "../../lib/construct/income-events.ts";

const codeOf = () => lambda.Code.fromInline("// stand-in");
const inRegion = (region?: string) => () => {
  const stack = new Stack(new App(), "Mine", region === undefined ? {} : { env: { region } });
  return new IncomeEvents(stack, "Events", {
    stage: "test",
    where: "the test",
    codeOf,
    written: { production: false },
  });
};

test.each(["cn-north-1", "cn-northwest-1"])(
  "a stack in %s is refused, with what is missing there",
  (region) => {
    expect(inRegion(region)).toThrow(
      new RegExp(`^Mine/Events: ${region} is in China, .* no function URLs, .* another partition$`),
    );
  },
);

test.each(["ca-central-1", undefined])("a stack in %s is taken", (region) => {
  expect(inRegion(region)).not.toThrow();
});
