import {
  ChangeMessageVisibilityCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clients, createQueue, startLocalSystem } from "./local-system.ts";

const mostInFlight = 3;
const mebibyte = 1024 * 1024;

const system = await startLocalSystem({ engines: { mostInFlight } });
afterAll(() => system.close());
const { sqs } = clients(system, system.operator);

describe("a message", () => {
  let QueueUrl: string;

  beforeAll(async () => {
    QueueUrl = await createQueue(system, "limits");
  });

  const send = (message: Partial<SendMessageCommandInput>) =>
    sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "text", ...message }));

  test("has at most 1 MiB, and so have those of a batch together", async () => {
    const whole = "x".repeat(mebibyte);
    await send({ MessageBody: whole });
    await expect(send({ MessageBody: `${whole}x` })).rejects.toThrow("shorter than 1048576 bytes");
    const Entries = ["a", "b"].map((Id) => ({ Id, MessageBody: whole.slice(0, mebibyte / 2 + 1) }));
    await expect(sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }))).rejects.toMatchObject({
      name: "BatchRequestTooLong",
    });
  });

  test("is delayed by 15 minutes at most", async () => {
    await send({ DelaySeconds: 900 });
    await expect(send({ DelaySeconds: 901 })).rejects.toThrow("DelaySeconds must be >= 0 and <= 900");
    const Entries = [{ Id: "a", MessageBody: "text", DelaySeconds: 901 }];
    await expect(sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }))).rejects.toThrow("<= 900");
  });

  test("has at most ten attributes", async () => {
    const attributes = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`n${index}`, { DataType: "String", StringValue: "x" }]),
      );
    await send({ MessageAttributes: attributes(10) });
    await expect(send({ MessageAttributes: attributes(11) })).rejects.toThrow(
      "[11] exceeds the allowed maximum [10]",
    );
  });

  test("is hidden for 12 hours at most", async () => {
    const url = await createQueue(system, "hidden");
    await sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody: "text" }));
    const { Messages: [message] = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: url }));
    const hide = (VisibilityTimeout: number) => {
      const ReceiptHandle = message?.ReceiptHandle;
      return sqs.send(
        new ChangeMessageVisibilityCommand({ QueueUrl: url, ReceiptHandle, VisibilityTimeout }),
      );
    };
    await hide(43_200);
    await expect(hide(43_201)).rejects.toThrow("Must be between 0 and 43200");
  });

  test("of a FIFO queue has a group and an id of 1 to 128 printable characters, and no delay", async () => {
    const url = await createQueue(system, "limits.fifo", { FifoQueue: "true" });
    const id = "x".repeat(128);
    const valid = { QueueUrl: url, MessageGroupId: id, MessageDeduplicationId: id };
    await send(valid);
    await expect(send({ ...valid, MessageGroupId: `${id}x` })).rejects.toThrow("MessageGroupId is invalid");
    await expect(send({ ...valid, MessageDeduplicationId: "ä" })).rejects.toThrow(
      "MessageDeduplicationId is",
    );
    await expect(send({ ...valid, MessageDeduplicationId: "other", DelaySeconds: 1 })).rejects.toThrow(
      "DelaySeconds is invalid",
    );
  });
});

describe("a queue with as many messages in flight as it may have", () => {
  async function receive(QueueUrl: string, WaitTimeSeconds = 0): Promise<readonly Message[]> {
    const command = new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: mostInFlight,
      WaitTimeSeconds,
    });
    return (await sqs.send(command)).Messages ?? [];
  }

  async function fill(QueueUrl: string): Promise<readonly Message[]> {
    const isFifo = QueueUrl.endsWith(".fifo");
    for (let number = 0; number <= mostInFlight; number += 1) {
      const id = `n${number}`;
      const ids = isFifo ? { MessageGroupId: id, MessageDeduplicationId: id } : {};
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: id, ...ids }));
    }
    const received = await receive(QueueUrl);
    expect(received).toHaveLength(mostInFlight);
    return received;
  }

  test("answers OverLimit, and nothing to long polling, until one is visible again", async () => {
    const QueueUrl = await createQueue(system, "full");
    const [first] = await fill(QueueUrl);
    await expect(receive(QueueUrl)).rejects.toMatchObject({ name: "OverLimit" });
    expect(await receive(QueueUrl, 1)).toEqual([]);
    const ReceiptHandle = first?.ReceiptHandle;
    await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
    expect(await receive(QueueUrl)).not.toEqual([]);
  });

  test("answers nothing without an error if it is FIFO", async () => {
    const QueueUrl = await createQueue(system, "full.fifo", { FifoQueue: "true" });
    await fill(QueueUrl);
    expect(await receive(QueueUrl)).toEqual([]);
  });
});
