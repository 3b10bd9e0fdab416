import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import {
  functionResources,
  mappingResource,
  packageUrl,
  queueResource,
  receiving,
} from "../../../support/assembly.ts";
import { eventually } from "../../../support/eventually.ts";
import { started } from "./started.ts";

const sender = `
import { SQSClient, SendMessageCommand } from ${JSON.stringify(packageUrl("@aws-sdk/client-sqs"))};
const sqs = new SQSClient({ maxAttempts: 1 });
export async function handler() {
  await sqs.send(new SendMessageCommand({ QueueUrl: process.env.QUEUE_URL, MessageBody: "x" }));
}`;

describe("an alarm", () => {
  const alarm = (metric: object) => ({
    Type: "AWS::CloudWatch::Alarm",
    Properties: {
      AlarmDescription: "Nothing is fetched: type this",
      ComparisonOperator: "GreaterThanOrEqualToThreshold",
      EvaluationPeriods: 1,
      Period: 60,
      Statistic: "Sum",
      Threshold: 1,
      TreatMissingData: "notBreaching",
      ...metric,
    },
  });

  test("goes off when a function fails", async () => {
    await using running = await started({
      assets: { Fail: "export const handler = () => { throw new Error('no'); };" },
      resources: {
        ...functionResources("Fail"),
        Alarm: alarm({
          MetricName: "Errors",
          Namespace: "AWS/Lambda",
          Dimensions: [{ Name: "FunctionName", Value: { Ref: "Fail" } }],
        }),
      },
    });
    await running.stack.functions[0]?.invoke("{}");
    expect(running.stack.alarms()).toMatchObject([{ state: "ALARM" }]);
  });

  test("goes off when a function reports a message as failed, which is no failure of the function", async () => {
    await using running = await started({
      assets: {
        Work: `export const handler = ({ Records }) =>
          ({ batchItemFailures: Records.map(({ messageId }) => ({ itemIdentifier: messageId })) });`,
      },
      resources: {
        ...queueResource("Queue", { VisibilityTimeout: 60 }),
        ...functionResources("Work", { allow: [receiving("Queue")], properties: { Timeout: 30 } }),
        ...mappingResource("Mapping", ["Queue", "Arn"], "Work", {
          MetricsConfig: { Metrics: ["EventCount"] },
        }),
        Alarm: alarm({
          MetricName: "FailedInvokeEventCount",
          Namespace: "AWS/Lambda",
          Dimensions: [{ Name: "EventSourceMappingUUID", Value: { "Fn::GetAtt": ["Mapping", "Id"] } }],
        }),
      },
    });
    await running.clients.sqs.send(
      new SendMessageCommand({ QueueUrl: running.url("Queue"), MessageBody: "x" }),
    );
    await eventually(() => expect(running.stack.alarms()).toMatchObject([{ state: "ALARM" }]));
    expect(running.stack.functions[0]?.counts()).toMatchObject({ errors: 0 });
  });
});

describe("permissions", () => {
  test("a call that the function's role does not allow fails, and is a problem of the stack", async () => {
    await using running = await started({
      assets: { Send: sender },
      resources: {
        ...queueResource("Work"),
        ...functionResources("Send", { environment: { QUEUE_URL: { Ref: "Work" } } }),
      },
    });
    const outcome = await running.stack.functions[0]?.invoke("{}");
    expect(outcome).toMatchObject({
      kind: "failed",
      error: { errorMessage: expect.stringContaining("is not authorized to perform: sqs:SendMessage") },
    });
    expect(running.stack.problems().denials).toEqual([
      {
        principal: "Send",
        action: "sqs:SendMessage",
        resource: "arn:aws:sqs:eu-central-1:000000000000:Work",
        reason: "no policy allows the sqs:SendMessage action",
      },
    ]);
  });

  test("without permission for its log group a function's lines are lost, and that is a problem", async () => {
    await using running = await started({
      assets: { Talk: "export const handler = () => { console.log('hello'); console.log('again'); };" },
      resources: functionResources("Talk", { logs: false }),
    });
    await running.stack.functions[0]?.invoke("{}");
    await eventually(() => {
      expect(running.stack.problems().denials.map(({ action }) => action)).toEqual([
        "logs:CreateLogStream",
        "logs:PutLogEvents",
      ]);
    });
    expect(running.stack.functions[0]?.log()).toEqual([]);
  });
});
