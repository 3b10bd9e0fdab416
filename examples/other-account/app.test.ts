import test from "node:test";
import { IncomeEventsStack } from "@income-events/cdk";
import { App } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { Reader } from "./reader.ts";

const newApp = () => new App({ builtinCloudFormationValidation: false });
const stack = IncomeEventsStack.fromSettingsFile(newApp(), "Tested", {
  stage: "prod",
  file: "stages/prod.json",
});
const pipeline = Template.fromStack(stack);
const reader = Template.fromStack(new Reader(newApp(), "Reader"));

test("the queue's policy lets the other account receive and delete, and nobody else", () => {
  pipeline.hasResourceProperties("AWS::SQS::QueuePolicy", {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({
          Action: Match.arrayWith(["sqs:ReceiveMessage", "sqs:DeleteMessage"]),
          Effect: "Allow",
          Principal: { AWS: { "Fn::Join": ["", Match.arrayWith([":iam::210987654321:root"])] } },
        }),
      ]),
    },
  });
});

test("the other account may call the documents' address by its roles", () => {
  for (const Action of ["lambda:InvokeFunctionUrl", "lambda:InvokeFunction"])
    pipeline.hasResourceProperties("AWS::Lambda::Permission", { Action, Principal: "210987654321" });
});

test("the role over there may read this queue and these documents alone", () => {
  reader.hasResourceProperties("AWS::IAM::Policy", {
    PolicyDocument: {
      Statement: [
        Match.objectLike({ Effect: "Allow", Resource: { Ref: "QueueArn" } }),
        {
          Action: "lambda:InvokeFunctionUrl",
          Effect: "Allow",
          Resource: { Ref: "DocumentsFunctionArn" },
        },
        {
          Action: "lambda:InvokeFunction",
          Condition: { Bool: { "lambda:InvokedViaFunctionUrl": "true" } },
          Effect: "Allow",
          Resource: { Ref: "DocumentsFunctionArn" },
        },
      ],
    },
  });
});
