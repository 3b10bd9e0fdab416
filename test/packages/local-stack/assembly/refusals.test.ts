import { expect, test } from "vitest";
import {
  apiResources,
  functionResources,
  mappingResource,
  queueResource,
  type Resources,
  receiving,
  tableResource,
} from "../../../support/assembly.ts";
import { problemsOf } from "./planned.ts";

const work = functionResources("Work");
const workOf = (properties: object) => functionResources("Work", { properties: { ...properties } });
const workWith = (NAME: unknown) => functionResources("Work", { environment: { NAME } });
const deadLetters = (queue: string, maxReceiveCount = 3) => ({
  RedrivePolicy: { deadLetterTargetArn: { "Fn::GetAtt": [queue, "Arn"] }, maxReceiveCount },
});
const api = apiResources({ "POST /a": "Work" });
const policyOf = (Statement: readonly object[]) => ({
  ...queueResource("Queue"),
  Policy: {
    Type: "AWS::SQS::QueuePolicy",
    Properties: { Queues: [{ Ref: "Queue" }], PolicyDocument: { Version: "2012-10-17", Statement } },
  },
});
const receivingBy = (...names: string[]) => ({
  Effect: "Allow",
  Action: "sqs:ReceiveMessage",
  Resource: "*",
  Principal: { AWS: names.map((name) => `arn:aws:iam::123456789012:role/${name}`) },
});
const names = Array.from({ length: 51 }, (_, index) => `r${index}`);
const queueArn = "arn:aws:sqs:eu-central-1:000000000000:Queue";
const notRun = (type: string) => `of type ${type}, which the local runner does not run`;

/** What can't be run, with the beginning of each reason. */
const cases: readonly (readonly [string, Resources, readonly string[]])[] = [
  [
    "everything at once",
    {
      ...workOf({ Runtime: "python3.13" }),
      ...functionResources("Gone"),
      ...queueResource("Queue"),
      Rule: { Type: "AWS::Events::Rule", Properties: { EventPattern: { source: ["x"] } } },
      Mapping: {
        Type: "AWS::Lambda::EventSourceMapping",
        Properties: { EventSourceArn: "arn:aws:kafka:::x", FunctionName: { Ref: "Work" } },
      },
    },
    [
      "python3.13",
      "Gone: its asset Gone.zip is missing",
      "Mapping: its event source arn:aws:kafka:::x is not one that the local runner knows",
      "event pattern is not a schedule",
    ],
  ],
  ["a function with inline code", workOf({ Code: { ZipFile: "exports.handler = 1" } }), ["Code.S3Bucket"]],
  [
    "a function with an unknown resource in its environment",
    { ...workWith({ Ref: "Stream" }), Stream: { Type: "AWS::Kinesis::Stream" } },
    [`Work: it depends on Stream ${notRun("AWS::Kinesis::Stream")}`],
  ],
  [
    "a function with a topic, which is ignored where no function needs it",
    { ...workWith({ Ref: "Topic" }), Topic: { Type: "AWS::SNS::Topic" } },
    [`Work: it depends on Topic ${notRun("AWS::SNS::Topic")}`],
  ],
  [
    "a function with an unknown resource that would call it",
    { ...work, Version: { Type: "AWS::Lambda::Version", Properties: { FunctionName: { Ref: "Work" } } } },
    ["Version: its type AWS::Lambda::Version is not known here, and it names Work"],
  ],
  [
    "an alias of a version",
    {
      ...work,
      Alias: {
        Type: "AWS::Lambda::Alias",
        Properties: { FunctionName: { Ref: "Work" }, FunctionVersion: "1", Name: "live" },
      },
    },
    ["Alias: its properties can't be kept here:"],
  ],
  [
    "a function's URL that is open to all",
    {
      ...work,
      Address: {
        Type: "AWS::Lambda::Url",
        Properties: { AuthType: "NONE", TargetFunctionArn: { "Fn::GetAtt": ["Work", "Arn"] } },
      },
    },
    ["Address: its properties can't be kept here: AuthType"],
  ],
  [
    "a function whose role another service assumes",
    JSON.parse(JSON.stringify(work).replace("lambda.amazonaws.com", "ec2.amazonaws.com")),
    ["Work: its role WorkRole does not let lambda.amazonaws.com assume it"],
  ],
  [
    "a function whose environment is over 4 KB",
    functionResources("Work", { environment: { A: "x".repeat(4097 - '{"A":""}'.length) } }),
    ["Work: its environment has 4097 bytes, and Lambda takes 4096 in all"],
  ],
  [
    "a route with an authorizer",
    {
      ...work,
      ...api,
      Route0: {
        Type: "AWS::ApiGatewayV2::Route",
        Properties: { ...api.Route0?.Properties, AuthorizationType: "JWT" },
      },
    },
    ["AuthorizationType"],
  ],
  [
    "a queue that SQS would not create",
    {
      ...queueResource("Dead"),
      ...queueResource("Named", { FifoQueue: true }),
      ...queueResource("Standard", { QueueName: "Standard.fifo" }),
      ...queueResource("Fast", {
        ...{ FifoQueue: true, QueueName: "Fast.fifo", FifoThroughputLimit: "perMessageGroupId" },
      }),
      ...queueResource("Mixed", { FifoQueue: true, QueueName: "Mixed.fifo", ...deadLetters("Dead") }),
      ...queueResource("Often", deadLetters("Dead", 1001)),
    },
    [
      "Named: the name Named does not fit: FIFO queues, and only they, have names that end in .fifo",
      "Standard: the name Standard.fifo does not fit: FIFO queues, and only they, have names that end in .fifo",
      "Fast: its FifoThroughputLimit is perMessageGroupId, and its DeduplicationScope is not messageGroup",
      "Mixed: its dead-letter queue Dead is of the other type",
      "Often: its maxReceiveCount is 1001",
    ],
  ],
  [
    "a queue's policy of more principals than SQS takes",
    policyOf([receivingBy(...names)]),
    ["Policy: the policy of a queue has 51 principals, and SQS takes 50"],
  ],
  [
    "a queue's policy of more statements than SQS takes",
    policyOf(names.slice(0, 21).map((name) => receivingBy(name))),
    ["Policy: the policy of a queue has 21 statements, and SQS takes 20"],
  ],
  [
    "a queue's policy of more bytes than SQS takes",
    policyOf([receivingBy("x".repeat(8_192))]),
    ["bytes, and SQS takes 8192"],
  ],
  [
    "a mapping that Lambda would not create",
    {
      ...queueResource("Queue"),
      ...queueResource("Ordered", { FifoQueue: true, QueueName: "Ordered.fifo" }),
      ...functionResources("Work", { allow: [receiving("Queue"), receiving("Ordered")] }),
      ...mappingResource("Large", ["Queue", "Arn"], "Work", { BatchSize: 11 }),
      ...mappingResource("Single", ["Queue", "Arn"], "Work", { ScalingConfig: { MaximumConcurrency: 1 } }),
      ...mappingResource("InOrder", ["Ordered", "Arn"], "Work", {
        ...{ BatchSize: 11, MaximumBatchingWindowInSeconds: 1 },
      }),
    },
    [
      "Large: its BatchSize is 11 without a batching window",
      "Single: its MaximumConcurrency is 1",
      "InOrder: its BatchSize is 11",
      "InOrder: it has a batching window, and its queue is FIFO",
    ],
  ],
  [
    "a mapping whose role lacks permissions on the queue",
    {
      ...queueResource("Queue"),
      ...functionResources("Work", { allow: [["sqs:ReceiveMessage", { "Fn::GetAtt": ["Queue", "Arn"] }]] }),
      ...mappingResource("Mapping", ["Queue", "Arn"], "Work"),
    },
    ["sqs:DeleteMessage", "sqs:GetQueueAttributes"].map(
      (action) => `Mapping: the role of Work may not ${action} on ${queueArn}`,
    ),
  ],
  [
    "a mapping whose role lacks permissions on stream and destination",
    {
      ...tableResource("Items"),
      Failures: { Type: "AWS::S3::Bucket" },
      ...work,
      ...mappingResource("Mapping", ["Items", "StreamArn"], "Work", {
        StartingPosition: "LATEST",
        DestinationConfig: { OnFailure: { Destination: { "Fn::GetAtt": ["Failures", "Arn"] } } },
      }),
    },
    [
      ...["DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"].map(
        (action) => `may not dynamodb:${action} on`,
      ),
      ...["may not s3:PutObject on", "may not s3:ListBucket on"],
    ],
  ],
  [
    "a mapping of a queue whose visibility is below the function's time-out",
    {
      ...queueResource("Queue", { VisibilityTimeout: 9 }),
      ...functionResources("Work", { allow: [receiving("Queue")] }),
      ...mappingResource("Mapping", ["Queue", "Arn"], "Work"),
    },
    ["Mapping: the visibility time-out of Queue (9 s) is less than the time-out of Work (10 s)"],
  ],
];

test.each(cases)("%s is refused, with each reason", async (_, resources, expected) => {
  expect(await problemsOf(resources)).toEqual(expected.map((text) => expect.stringContaining(text)));
});
