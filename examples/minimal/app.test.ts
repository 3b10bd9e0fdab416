import test from "node:test";
import { IncomeEventsStack } from "@income-events/cdk";
import { App } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";

const app = new App({ builtinCloudFormationValidation: false });
const stack = IncomeEventsStack.fromSettingsFile(app, "Tested", { stage: "prod", file: "stages/prod.json" });
const template = Template.fromStack(stack);

test("what billing has not read within its time goes to a dead-letter queue", () => {
  template.hasResourceProperties("AWS::SQS::Queue", {
    QueueName: Match.absent(),
    RedrivePolicy: Match.objectLike({ maxReceiveCount: Match.anyValue() }),
  });
  template.hasOutput("SubscriberBillingQueueUrl", {});
});

test("the table of events outlives the stack and can be restored to any second of a month", () => {
  template.hasResource("AWS::DynamoDB::GlobalTable", {
    DeletionPolicy: "RetainExceptOnCreate",
    Properties: {
      Replicas: [
        Match.objectLike({
          PointInTimeRecoverySpecification: Match.objectLike({ PointInTimeRecoveryEnabled: true }),
        }),
      ],
    },
  });
});
