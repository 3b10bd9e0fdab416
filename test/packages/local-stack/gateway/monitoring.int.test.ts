import { DescribeAlarmsCommand, GetMetricDataCommand, ListMetricsCommand } from "@aws-sdk/client-cloudwatch";
import {
  GetFunctionConfigurationCommand,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from "@aws-sdk/client-lambda";
import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import type { HostedFunction } from "@income-events/local-stack/lambda/hosted-function.ts";
import { afterAll, describe, expect, test } from "vitest";
import { scripted } from "../lambda/scripted-function.ts";
import { account, clients, createQueue, monitored, region, startLocalSystem } from "./local-system.ts";

const functionArn = `arn:aws:lambda:${region}:${account}:function:work`;
const queueArn = `arn:aws:sqs:${region}:${account}:queue`;
const two = {
  id: "two",
  eventSourceArn: `${queueArn}-2`,
  functionArn,
  enabled: false,
  setEnabled: (enabled: boolean) => {
    two.enabled = enabled;
  },
};
const mappings = [{ id: "one", eventSourceArn: queueArn, functionArn, enabled: true }, two];
const functions = new Map<string, HostedFunction>([["Work", scripted([])]]);
const invoker = { invoke: async () => "succeeded" as const };

const lambdaEngine = { functions, invoker, mappings: () => mappings };
const system = await startLocalSystem({ engines: { alarms: () => monitored([]), lambda: lambdaEngine } });
afterAll(() => system.close());
const { cloudwatch, lambda, sqs } = clients(system, system.operator);

/** Values of a queue's metric in an hour (by default the last), and the starts of their periods. */
async function values(
  queueName: string,
  MetricName: string,
  Stat: "Sum" | "Maximum",
  { EndTime = new Date(Date.now() + 1) } = {},
) {
  const Metric = {
    Namespace: "AWS/SQS",
    MetricName,
    Dimensions: [{ Name: "QueueName", Value: queueName }],
  };
  const { MetricDataResults: [result] = [] } = await cloudwatch.send(
    new GetMetricDataCommand({
      MetricDataQueries: [{ Id: "wanted", MetricStat: { Metric, Stat, Period: 60 } }],
      StartTime: new Date(EndTime.getTime() - 3_600_000),
      EndTime,
    }),
  );
  return { times: result?.Timestamps ?? [], values: result?.Values ?? [] };
}

describe("metrics of queues", () => {
  test("give the age of the oldest message, in flight or not, and none for an empty queue", async () => {
    const QueueUrl = await createQueue(system, "aged");
    const age = async () => (await values("aged", "ApproximateAgeOfOldestMessage", "Maximum")).values;
    expect(await age()).toEqual([]);
    const from = Date.now();
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "one", DelaySeconds: 1 }));
    const to = Date.now();
    await expect.poll(async () => (await age())[0]).toBeGreaterThanOrEqual(1);
    const asked = Date.now();
    const [reported] = await age();
    expect(reported).toBeGreaterThanOrEqual(Math.floor((asked - to) / 1_000));
    expect(reported).toBeLessThanOrEqual(Math.floor((Date.now() - from) / 1_000));
    await expect
      .poll(async () => (await sqs.send(new ReceiveMessageCommand({ QueueUrl }))).Messages?.[0]?.Body)
      .toBe("one");
    expect((await age())[0]).toBeGreaterThanOrEqual(1);
  });

  test("return the current age if the range has just ended, in another minute, and no past ones", async () => {
    const QueueUrl = await createQueue(system, "between");
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "one" }));
    const timesUntil = async (end: number) => {
      const until = { EndTime: new Date(end) };
      return (await values("between", "ApproximateAgeOfOldestMessage", "Maximum", until)).times;
    };
    const thisMinute = Math.floor(Date.now() / 60_000) * 60_000;
    expect(await timesUntil(thisMinute)).toEqual([new Date(thisMinute - 60_000)]);
    expect(await timesUntil(thisMinute - 300_000)).toEqual([]);
  });

  test("forget a message that was deleted", async () => {
    const QueueUrl = await createQueue(system, "emptied");
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "one" }));
    const { Messages: [message] = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message?.ReceiptHandle }));
    expect((await values("emptied", "ApproximateAgeOfOldestMessage", "Maximum")).values).toEqual([]);
  });
});

describe("what an operator reads of functions", () => {
  test("is their configuration, by name or ARN", async () => {
    for (const FunctionName of ["work", functionArn]) {
      const found = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
      expect(found).toMatchObject({ FunctionName: "work", FunctionArn: functionArn, State: "Active" });
    }
    await expect(
      lambda.send(new GetFunctionConfigurationCommand({ FunctionName: "gone" })),
    ).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  });

  test("is their event source mappings, by source or function, and whether they are enabled", async () => {
    const list = async (input: object) =>
      ((await lambda.send(new ListEventSourceMappingsCommand(input))).EventSourceMappings ?? []).map(
        ({ UUID, State }) => `${UUID} ${State}`,
      );
    expect(await list({ FunctionName: "work" })).toEqual(["one Enabled", "two Disabled"]);
    expect(await list({ EventSourceArn: queueArn })).toEqual(["one Enabled"]);
    expect(await list({ FunctionName: "other" })).toEqual([]);
  });
});

test("an event source mapping is enabled and disabled with the permission on it, where supported", async () => {
  const change = (UUID: string, changes: object) =>
    lambda.send(new UpdateEventSourceMappingCommand({ UUID, ...changes }));
  expect(await change("two", { Enabled: true })).toMatchObject({ UUID: "two", State: "Enabling" });
  expect(two.enabled).toBe(true);
  expect(await change("two", { Enabled: false })).toMatchObject({ State: "Disabling" });
  expect(two.enabled).toBe(false);

  for (const [id, changes] of [
    ["one", { Enabled: false }],
    ["two", { BatchSize: 1 }],
    ["two", { Enabled: true, BatchSize: 1 }],
  ] as const) {
    await expect(change(id, changes)).rejects.toMatchObject({ name: "InvalidParameterValueException" });
  }
  await expect(change("three", { Enabled: true })).rejects.toMatchObject({
    name: "ResourceNotFoundException",
  });
  const resource = `arn:aws:lambda:${region}:${account}:event-source-mapping:`;
  const may = clients(
    system,
    system.caller("deployer", ["lambda:UpdateEventSourceMapping", `${resource}two`]),
  );
  await may.lambda.send(new UpdateEventSourceMappingCommand({ UUID: "two", Enabled: false }));
  await expect(
    may.lambda.send(new UpdateEventSourceMappingCommand({ UUID: "one", Enabled: false })),
  ).rejects.toMatchObject({ name: expect.stringMatching(/^AccessDenied/) });
});

describe("who may read it", () => {
  test("needs the permission of each operation", async () => {
    const may = clients(
      system,
      system.caller(
        "watcher",
        ["cloudwatch:DescribeAlarms", `arn:aws:cloudwatch:${region}:${account}:alarm:*`],
        ["lambda:GetFunctionConfiguration", functionArn],
      ),
    );
    await may.cloudwatch.send(new DescribeAlarmsCommand({}));
    await may.lambda.send(new GetFunctionConfigurationCommand({ FunctionName: "work" }));
    const denied = { name: expect.stringMatching(/^AccessDenied/) };
    await expect(may.lambda.send(new ListEventSourceMappingsCommand({}))).rejects.toMatchObject(denied);
    const StartTime = new Date(0);
    await expect(
      may.cloudwatch.send(new GetMetricDataCommand({ MetricDataQueries: [], StartTime, EndTime: StartTime })),
    ).rejects.toMatchObject(denied);
  });

  test("is refused unmeasured or unknown metrics by name", async () => {
    await expect(values("queue", "SentMessageSize", "Sum")).rejects.toMatchObject({
      message: expect.stringContaining("does not know the metric AWS/SQS SentMessageSize"),
    });
    await expect(values("queue", "NumberOfMessagesSent", "Maximum")).rejects.toThrow(
      "NumberOfMessagesSent Sum",
    );
    await expect(cloudwatch.send(new ListMetricsCommand({}))).rejects.toThrow("it knows DescribeAlarms");
    await expect(cloudwatch.send(new DescribeAlarmsCommand({ ActionPrefix: "arn:" }))).rejects.toThrow(
      "DescribeAlarms with ActionPrefix",
    );
  });
});
