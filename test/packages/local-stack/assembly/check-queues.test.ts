import { expect, test } from "vitest";
import { functionResources, mappingResource, queueResource, receiving } from "../../../support/assembly.ts";
import { planned, problemsOf } from "./planned.ts";

const fifo = { FifoQueue: true, QueueName: undefined };
const deadLetters = (queue: string, maxReceiveCount = 3) => ({
  RedrivePolicy: { deadLetterTargetArn: { "Fn::GetAtt": [queue, "Arn"] }, maxReceiveCount },
});

test("a FIFO queue without a name has one that ends in .fifo", async () => {
  const { queues } = await planned({ Work: { Type: "AWS::SQS::Queue", Properties: { FifoQueue: true } } });
  expect(queues[0]).toMatchObject({
    name: "Test-Work.fifo",
    arn: expect.stringMatching(/:Test-Work\.fifo$/),
  });
});

test("a queue that SQS would not create is refused, with each reason", async () => {
  const problems = await problemsOf({
    ...queueResource("Dead"),
    ...queueResource("Named", { FifoQueue: true }),
    ...queueResource("Standard", { QueueName: "Standard.fifo" }),
    ...queueResource("Fast", { ...fifo, QueueName: "Fast.fifo", FifoThroughputLimit: "perMessageGroupId" }),
    ...queueResource("Mixed", { ...fifo, QueueName: "Mixed.fifo", ...deadLetters("Dead") }),
    ...queueResource("Often", deadLetters("Dead", 1001)),
  });
  expect(problems).toEqual([
    "Named: the name Named does not fit: FIFO queues, and only they, have names that end in .fifo",
    "Standard: the name Standard.fifo does not fit: FIFO queues, and only they, have names that end in .fifo",
    "Fast: its FifoThroughputLimit is perMessageGroupId, and its DeduplicationScope is not messageGroup",
    "Mixed: its dead-letter queue Dead is of the other type",
    "Often: its maxReceiveCount is 1001",
  ]);
});

test("a policy of more bytes, statements or principals than SQS takes is refused", async () => {
  const problemsWith = (Statement: object[]) =>
    problemsOf({
      ...queueResource("Queue"),
      Policy: {
        Type: "AWS::SQS::QueuePolicy",
        Properties: { Queues: [{ Ref: "Queue" }], PolicyDocument: { Version: "2012-10-17", Statement } },
      },
    });
  const statement = (...names: string[]) => ({
    Effect: "Allow",
    Action: "sqs:ReceiveMessage",
    Resource: "*",
    Principal: { AWS: names.map((name) => `arn:aws:iam::123456789012:role/${name}`) },
  });
  const names = Array.from({ length: 51 }, (_, index) => `r${index}`);
  expect(await problemsWith([statement(...names)])).toEqual([
    "Policy: the policy of a queue has 51 principals, and SQS takes 50",
  ]);
  expect(await problemsWith(names.slice(0, 21).map((name) => statement(name)))).toEqual([
    "Policy: the policy of a queue has 21 statements, and SQS takes 20",
  ]);
  expect(await problemsWith([statement("x".repeat(8_192))])).toEqual([
    expect.stringMatching(/bytes, and SQS takes 8192$/),
  ]);
});

test("a mapping that Lambda would not create is refused, with each reason", async () => {
  const problems = await problemsOf({
    ...queueResource("Queue"),
    ...queueResource("Ordered", { FifoQueue: true, QueueName: "Ordered.fifo" }),
    ...functionResources("Work", { allow: [receiving("Queue"), receiving("Ordered")] }),
    ...mappingResource("Large", ["Queue", "Arn"], "Work", { BatchSize: 11 }),
    ...mappingResource("Single", ["Queue", "Arn"], "Work", { ScalingConfig: { MaximumConcurrency: 1 } }),
    ...mappingResource("InOrder", ["Ordered", "Arn"], "Work", {
      BatchSize: 11,
      MaximumBatchingWindowInSeconds: 1,
    }),
  });
  expect(problems).toEqual([
    "Large: its BatchSize is 11 without a batching window",
    "Single: its MaximumConcurrency is 1",
    "InOrder: its BatchSize is 11",
    "InOrder: it has a batching window, and its queue is FIFO",
  ]);
});
