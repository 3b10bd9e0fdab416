import { expect, test } from "vitest";
import { queueResource } from "../../../support/assembly.ts";
import { planned, problemsOf } from "./planned.ts";

test("a FIFO queue without a name has one that ends in .fifo", async () => {
  const { queues } = await planned({ Work: { Type: "AWS::SQS::Queue", Properties: { FifoQueue: true } } });
  expect(queues[0]).toMatchObject({
    name: "Test-Work.fifo",
    arn: expect.stringMatching(/:Test-Work\.fifo$/),
  });
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
