import { ReceiveMessageCommand, SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import { startWork } from "./queue-work.ts";

type Sent = { readonly body: string; readonly group: string; readonly id?: string };

/** A FIFO queue with a FIFO dead-letter queue, and a function that logs the bodies at its start and at its end. */
async function startOrdered(handler: string, hiddenSeconds = 60) {
  const fifo = {
    FifoQueue: true,
    DeduplicationScope: "messageGroup",
    FifoThroughputLimit: "perMessageGroupId",
  };
  const running = await startWork({
    handler: `async (event) => {
      const result = await (${handler})(event);
      console.log("end " + event.Records.map(({ body }) => body).sort().join(" "));
      return result;
    }`,
    deadQueue: { ...fifo, QueueName: "Dead.fifo" },
    queue: {
      ...fifo,
      QueueName: "Work.fifo",
      VisibilityTimeout: hiddenSeconds,
      RedrivePolicy: { deadLetterTargetArn: { "Fn::GetAtt": ["Dead", "Arn"] }, maxReceiveCount: 2 },
    },
    function: { Timeout: Math.min(hiddenSeconds, 30) },
  });
  const { sqs } = running.clients;
  return {
    ...running,
    send: async (...messages: readonly Sent[]) => {
      const Entries = messages.map(({ body, group, id = body }, index) => ({
        Id: String(index),
        MessageBody: body,
        MessageGroupId: group,
        MessageDeduplicationId: id,
      }));
      return sqs.send(new SendMessageBatchCommand({ QueueUrl: running.url("Work.fifo"), Entries }));
    },
    gauge: (metric: string) => running.stack.gateway.queueGauge("Dead.fifo", metric),
    dead: async () => {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: running.url("Dead.fifo"),
          MaxNumberOfMessages: 10,
          MessageSystemAttributeNames: ["All"],
        }),
      );
      return Messages.map(({ Body, Attributes }) => [
        Body,
        Attributes?.MessageGroupId,
        Attributes?.MessageDeduplicationId,
      ]);
    },
  };
}

describe.concurrent("a FIFO queue as event source", () => {
  test("hands over one batch of a group at a time, in order, and other groups meanwhile", async () => {
    await using work = await startOrdered("() => new Promise((resolve) => setTimeout(resolve, 50))");
    await work.send({ body: "a1", group: "a" }, { body: "a2", group: "a" }, { body: "b1", group: "b" });
    await work.drained();
    const lines = work.log();
    expect(lines.filter((line) => /a\d/.test(line)).map((line) => line.replace(/ b1|b1 /, ""))).toEqual([
      "a1",
      "end a1",
      "a2",
      "end a2",
    ]);
    expect(lines.join(" ")).toContain("b1");
  });

  test("deletes unreported messages; the group waits for reported ones, which become dead letters", async () => {
    await using work = await startOrdered(
      `({ Records }) => ({ batchItemFailures: Records.filter(({ body }) => body === "a1")
        .map(({ messageId }) => ({ itemIdentifier: messageId })) })`,
      // At least as long as a process takes to start on a busy machine.
      4,
    );
    await work.send(
      { body: "a1", group: "a", id: "first" },
      { body: "a2", group: "a" },
      { body: "b1", group: "b" },
    );
    await work.drained();
    const begun = work.log().flatMap((line) => line.match(/(?<!end.*)[ab]\d/g) ?? []);
    expect(begun.filter((body) => body !== "b1")).toEqual(["a1", "a1", "a2"]);
    expect(begun.filter((body) => body === "b1")).toEqual(["b1"]);
    expect(await work.gauge("ApproximateNumberOfMessagesVisible")).toBe(1);
    expect(await work.gauge("ApproximateAgeOfOldestMessage")).toBeGreaterThan(0);
    expect(await work.dead()).toEqual([["a1", "a", "first"]]);
  });

  test("gets a message with a known deduplication id once", async () => {
    await using work = await startOrdered("() => null");
    const { Successful: [first] = [] } = await work.send({ body: "a", group: "a" });
    const { Successful: [again] = [] } = await work.send({ body: "a", group: "a" });
    expect(again?.MessageId).toBe(first?.MessageId);
    await work.send({ body: "b", group: "a" });
    await work.drained();
    expect(work.log()).toEqual(["a", "end a", "b", "end b"]);
  });
});
