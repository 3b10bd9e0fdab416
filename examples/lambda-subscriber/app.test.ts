import assert from "node:assert/strict";
import test from "node:test";
import { App } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { billingStack } from "./billing.ts";
import { newestOf } from "./subscriber.ts";

const app = new App({ builtinCloudFormationValidation: false });
const template = Template.fromStack(billingStack(app, "prod"));

test("the function reads billing's queue, and leaves there what it could not process", () => {
  template.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
    EventSourceArn: { "Fn::GetAtt": [Match.stringLikeRegexp("^SubscriberBillingQueue"), "Arn"] },
    FunctionName: { Ref: Match.stringLikeRegexp("^Billing") },
    FunctionResponseTypes: ["ReportBatchItemFailures"],
  });
});

test("its role may read documents at the pipeline's address alone", () => {
  template.hasResourceProperties("AWS::IAM::Policy", {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({
          Action: "lambda:InvokeFunction",
          Condition: { Bool: { "lambda:InvokedViaFunctionUrl": "true" } },
          Effect: "Allow",
          Resource: { "Fn::GetAtt": [Match.stringLikeRegexp("^ReadDocuments"), "Arn"] },
        }),
      ]),
    },
    Roles: [{ Ref: Match.stringLikeRegexp("^BillingServiceRole") }],
  });
});

test("the newest period is the one that ends last, wherever the document has it", () => {
  const [old, newest, older] = ["2026-09-30", "2026-10-31", "2026-08-31"].map((date_end) => ({ date_end }));
  for (const periods of [
    [old, newest, older],
    [newest, old],
    [older, newest],
  ])
    assert.equal(newestOf(periods.filter((period) => period !== undefined)), newest);
  assert.equal(newestOf([]), undefined);
});
