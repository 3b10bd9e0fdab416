import assert from "node:assert/strict";
import test from "node:test";
import { App } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Lending } from "./lending.ts";

const app = new App({ builtinCloudFormationValidation: false });
const template = Template.fromStack(
  new Lending(app, "Tested", { stage: "prod", env: { region: "eu-central-1" } }),
);
const key = { "Fn::GetAtt": [Match.stringLikeRegexp("^Key"), "Arn"] };
const topic = { Ref: Match.stringLikeRegexp("^OnCall") };

test("the table and all queues are encrypted with the app's key", () => {
  template.hasResourceProperties("AWS::DynamoDB::GlobalTable", {
    SSESpecification: { SSEEnabled: true, SSEType: "KMS" },
    Replicas: [Match.objectLike({ SSESpecification: { KMSMasterKeyId: key } })],
  });
  template.allResourcesProperties("AWS::SQS::Queue", { KmsMasterKeyId: key });
});

test("each alarm of the pipeline goes to the app's topic, to which CloudWatch may publish", () => {
  const alarms = template.findResources("AWS::CloudWatch::Alarm", { Properties: { AlarmActions: [topic] } });
  assert.ok(Object.keys(alarms).length > 10);
  template.hasResourceProperties("AWS::SNS::TopicPolicy", {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({ Action: "sns:Publish", Principal: { Service: "cloudwatch.amazonaws.com" } }),
      ]),
    },
  });
});

test("the app's tags are on what the pipeline holds", () => {
  const Tags = Match.arrayWith([{ Key: "team", Value: "lending" }]);
  for (const type of ["AWS::SQS::Queue", "AWS::Lambda::Function", "AWS::S3::Bucket"])
    template.allResourcesProperties(type, { Tags });
  template.hasResourceProperties("AWS::DynamoDB::GlobalTable", { Replicas: [Match.objectLike({ Tags })] });
});
