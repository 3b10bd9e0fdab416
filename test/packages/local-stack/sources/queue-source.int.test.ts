import { GetQueueAttributesCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { comingBack, receipts, startWork } from "./queue-work.ts";

// Each has its own stack, and mostly waits for redelivery.
describe.concurrent("a batch of a queue", () => {
  test("with failed items keeps only those, until the redrive policy moves them", async () => {
    await using work = await startWork({
      handler: `({ Records }) => ({ batchItemFailures: Records.filter(({ body }) => body === "bad")
        .map(({ messageId }) => ({ itemIdentifier: messageId })) })`,
      ...comingBack,
    });
    await work.send("good", "bad", "fine");
    await work.drained();
    expect(receipts(work.log())).toEqual({ good: 1, fine: 1, bad: 3 });
    expect(await work.dead()).toEqual(["bad"]);
  });

  test("whose function fails comes back whole, with its receive count, until maxReceiveCount", async () => {
    await using work = await startWork({
      handler: `({ Records }) => { console.log("count" + Records[0].attributes.ApproximateReceiveCount); throw new Error("no"); }`,
      ...comingBack,
    });
    await work.send("a");
    await work.drained();
    expect(work.log()).toEqual(["a", "count1", "a", "count2", "a", "count3"]);
    expect(await work.dead()).toEqual(["a"]);
  });

  test("comes back when the function's process is killed at work", async () => {
    await using work = await startWork({
      handler: `({ Records }) => Records[0].attributes.ApproximateReceiveCount === "1" ? new Promise(() => {}) : null`,
      ...comingBack,
    });
    await work.send("a");
    await eventually(() => expect(work.log()).toEqual(["a"]), 5);
    expect(work.stack.functions[0]?.kill()).toBe(1);
    await work.drained();
    expect(work.log().filter((line) => line === "a")).toHaveLength(2);
  });
});

test("a record has the shape of AWS", async () => {
  await using work = await startWork({ handler: "({ Records }) => console.log(JSON.stringify(Records[0]))" });
  await work.clients.sqs.send(
    new SendMessageCommand({
      QueueUrl: work.url("Work"),
      MessageBody: "a",
      MessageAttributes: {
        reason: { DataType: "String", StringValue: "x" },
        bytes: { DataType: "Binary", BinaryValue: Buffer.from([0, 255]) },
      },
    }),
  );
  await work.drained();
  expect(JSON.parse(work.log()[1] ?? "")).toEqual({
    messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    receiptHandle: expect.stringMatching(/./),
    body: "a",
    attributes: expect.objectContaining({
      ApproximateReceiveCount: "1",
      SentTimestamp: expect.stringMatching(/^\d{13}$/),
      ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
      SenderId: expect.any(String),
    }),
    messageAttributes: {
      reason: { stringValue: "x", stringListValues: [], binaryListValues: [], dataType: "String" },
      bytes: { binaryValue: "AP8=", stringListValues: [], binaryListValues: [], dataType: "Binary" },
    },
    md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
    md5OfBody: "0cc175b9c0f1b6a831c399e269772661",
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:eu-central-1:000000000000:Work",
    awsRegion: "eu-central-1",
  });
});

describe("settings of the mapping", () => {
  test("the batch size is the most that a batch holds", async () => {
    await using work = await startWork({ handler: "() => null", mapping: { BatchSize: 2 } });
    await work.send("a", "b", "c", "d", "e");
    await work.drained();
    const sizes = work.log().map((line) => line.split(" ").length);
    expect(Math.max(...sizes)).toBe(2);
    expect(Object.values(receipts(work.log()))).toEqual([1, 1, 1, 1, 1]);
  });

  test("with a window a batch waits for more messages, also more than one call receives", async () => {
    await using work = await startWork({
      handler: "() => null",
      // Ends as soon as it is full.
      mapping: { BatchSize: 12, MaximumBatchingWindowInSeconds: 60 },
      queue: { VisibilityTimeout: 120 },
    });
    await work.send("a");
    await work.send("b", "c", "d", "e", "f", "g", "h", "i", "j", "k");
    await work.send("l");
    await work.drained();
    expect(work.log()).toEqual(["a b c d e f g h i j k l"]);
  });

  test("a batch ends before it exceeds a function's payload limit", async () => {
    await using work = await startWork({
      handler: '({ Records }) => console.log("batch of " + Records.length)',
      // Long enough for all of them to arrive; the batch is then full.
      mapping: { BatchSize: 8, MaximumBatchingWindowInSeconds: 60 },
      queue: { VisibilityTimeout: 120 },
    });
    for (const letter of "abcdefgh") await work.send(letter.repeat(1_000_000));
    await work.drained();
    expect(work.stack.functions[0]?.counts()).toMatchObject({ errors: 0 });
    // Several megabytes of logs are read after the answer.
    await expect
      .poll(() => work.log().flatMap((line) => /^batch of (\d)$/.exec(line)?.[1] ?? []))
      .toHaveLength(2);
    expect(work.log()).toEqual(expect.arrayContaining(["batch of 2", "batch of 6"]));
  });

  test("with filters a message that none takes is deleted unseen", async () => {
    await using work = await startWork({
      handler: "() => null",
      mapping: { FilterCriteria: { Filters: [{ Pattern: '{"body":{"kind":["wanted"]}}' }] } },
    });
    await work.send('{"kind":"wanted"}', '{"kind":"other"}', "no JSON");
    await work.drained();
    expect(work.log()).toEqual(['{"kind":"wanted"}']);
    expect(await work.dead()).toEqual([]);
  });

  const slow = "() => new Promise((resolve) => setTimeout(resolve, 60))";
  test.each([
    ["the maximum concurrency", { mapping: { BatchSize: 1, ScalingConfig: { MaximumConcurrency: 2 } } }, 2],
    ["the cap of this machine", { mapping: { BatchSize: 1 }, maximumProcesses: 3 }, 3],
  ])("not more batches run at once than %s", async (_, settings, expected) => {
    await using work = await startWork({ handler: slow, ...settings });
    await work.send("a", "b", "c", "d", "e", "f", "g", "h");
    await work.drained();
    expect(work.stack.functions[0]?.counts()).toMatchObject({ peak: expected, throttles: 0 });
  });

  test("a disabled mapping leaves the queue alone", async () => {
    await using work = await startWork({ handler: "() => null", mapping: { Enabled: false } });
    await work.send("a");
    await work.drained();
    const command = new GetQueueAttributesCommand({
      QueueUrl: work.url("Work"),
      AttributeNames: ["ApproximateNumberOfMessages"],
    });
    expect((await work.clients.sqs.send(command)).Attributes).toEqual({ ApproximateNumberOfMessages: "1" });
  });
});

test("polling goes through the gateway with the function's own credentials", async () => {
  await using work = await startWork({ handler: "() => null" });
  await work.send("a");
  await work.drained();
  const calls = [...work.stack.gateway.calls().keys()].filter((name) => name.startsWith("Store "));
  expect(calls.sort()).toEqual(["Store sqs:DeleteMessageBatch", "Store sqs:ReceiveMessage"]);
});
