import assert from "node:assert/strict";
import test from "node:test";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Lending } from "./lending.ts";

const app = new App({ builtinCloudFormationValidation: false });
const template = Template.fromStack(new Lending(app, "Tested", { stage: "prod" }));
const ids = Object.keys(template.toJSON().Resources);

test("each provider has a table, a way in and a queue for billing of its own", () => {
  for (const pipeline of ["Payroll", "Benefits"])
    for (const output of ["TableName", "WebhooksUrl", "SubscriberBillingQueueUrl"])
      template.hasOutput(`${pipeline}${output}`, {});
});

test("no resource of one pipeline names a resource of the other", () => {
  const { Resources } = template.toJSON();
  for (const [own, others] of [
    [/^Payroll/, /"Benefits/],
    [/^Benefits/, /"Payroll/],
  ] as const) {
    const resources = ids.filter((id) => own.test(id)).map((id) => JSON.stringify(Resources[id]));
    assert.ok(resources.length > 100);
    assert.deepEqual(
      resources.filter((text) => others.test(text)),
      [],
    );
  }
});

test("nothing has a fixed name: the stack can be there twice", () => {
  for (const type of [
    "AWS::SQS::Queue",
    "AWS::DynamoDB::GlobalTable",
    "AWS::S3::Bucket",
    "AWS::Lambda::Function",
  ])
    for (const { Properties = {} } of Object.values(template.findResources(type)))
      for (const name of ["QueueName", "TableName", "BucketName", "FunctionName"])
        assert.equal(Properties[name], undefined);
});
