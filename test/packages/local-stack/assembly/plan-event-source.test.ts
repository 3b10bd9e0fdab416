import { describe, expect, test } from "vitest";
import {
  functionResources,
  mappingResource,
  queueResource,
  type Resources,
  readingStreams,
  receiving,
  tableResource,
} from "../../../support/assembly.ts";
import { planned, problemsOf } from "./planned.ts";

describe("an event source mapping", () => {
  const store = (allow: NonNullable<Parameters<typeof functionResources>[1]>["allow"] = []): Resources =>
    functionResources("Work", { allow });

  test("has Lambda's defaults, and the filters, limits and destination of the template", async () => {
    const plan = await planned({
      ...queueResource("Queue"),
      ...tableResource("Items"),
      Failures: { Type: "AWS::S3::Bucket" },
      ...store([receiving("Queue"), readingStreams, [["s3:PutObject", "s3:ListBucket"], "*"]]),
      ...mappingResource("FromQueue", ["Queue", "Arn"], "Work", { ScalingConfig: { MaximumConcurrency: 2 } }),
      ...mappingResource("FromItems", ["Items", "StreamArn"], "Work", {
        StartingPosition: "TRIM_HORIZON",
        MaximumRetryAttempts: 5,
        BisectBatchOnFunctionError: true,
        MaximumRecordAgeInSeconds: 72_000,
        DestinationConfig: { OnFailure: { Destination: { "Fn::GetAtt": ["Failures", "Arn"] } } },
        FilterCriteria: { Filters: [{ Pattern: '{"eventName":["INSERT"]}' }] },
      }),
    });
    expect(plan.sources).toMatchObject([
      { kind: "queue", batchSize: 10, windowSeconds: 0, maximumConcurrency: 2, reportsItemFailures: true },
      {
        kind: "stream",
        batchSize: 100,
        maximumRetryAttempts: 5,
        bisects: true,
        maximumRecordAgeSeconds: 72_000,
        failureBucket: { logicalId: "Failures" },
      },
    ]);
  });

  test("whose role lacks permissions on the queue is refused, naming each", async () => {
    const problems = await problemsOf({
      ...queueResource("Queue"),
      ...store([["sqs:ReceiveMessage", { "Fn::GetAtt": ["Queue", "Arn"] }]]),
      ...mappingResource("Mapping", ["Queue", "Arn"], "Work"),
    });
    const arn = "arn:aws:sqs:eu-central-1:000000000000:Queue";
    expect(problems).toEqual([
      `Mapping: the role of Work may not sqs:DeleteMessage on ${arn}`,
      `Mapping: the role of Work may not sqs:GetQueueAttributes on ${arn}`,
    ]);
  });

  test("whose role lacks permissions on stream and destination is refused, naming each", async () => {
    const problems = await problemsOf({
      ...tableResource("Items"),
      Failures: { Type: "AWS::S3::Bucket" },
      ...store(),
      ...mappingResource("Mapping", ["Items", "StreamArn"], "Work", {
        StartingPosition: "LATEST",
        DestinationConfig: { OnFailure: { Destination: { "Fn::GetAtt": ["Failures", "Arn"] } } },
      }),
    });
    const actions = problems.map((problem) => /may not (\S+)/.exec(problem)?.[1]);
    expect(actions).toEqual([
      "dynamodb:DescribeStream",
      "dynamodb:GetRecords",
      "dynamodb:GetShardIterator",
      "dynamodb:ListStreams",
      "s3:PutObject",
      "s3:ListBucket",
    ]);
  });

  test("of a queue whose visibility is below the function's time-out is refused", async () => {
    const problems = await problemsOf({
      ...queueResource("Queue", { VisibilityTimeout: 9 }),
      ...store([receiving("Queue")]),
      ...mappingResource("Mapping", ["Queue", "Arn"], "Work"),
    });
    expect(problems).toEqual([
      "Mapping: the visibility time-out of Queue (9 s) is less than the time-out of Work (10 s)",
    ]);
  });
});
