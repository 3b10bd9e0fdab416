import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deadLetterArchive } from "../../../../adapters/sqs/dead-letter-archive.ts";
import { queueDeadLetters } from "../../../../adapters/sqs/queue-dead-letters.ts";
import { type Send, sqsSender } from "../../../../adapters/sqs/sqs-sender.ts";
import { permanent } from "../../../../domain/core/failures.ts";
import { handleEachRecord, rejectPermanent } from "../../../../functions/runtime/sqs-batch.ts";
import { type RedrivePorts, redrive } from "../../../../packages/cli/dead-letters/redrive.ts";
import { isSelected } from "../../../../packages/cli/dead-letters/selection.ts";
import { sqsEvent } from "../../../functions/support/lambda.ts";
import { startTestSystem, type TestSystem } from "../../../support/engines.ts";

describe("a redrive", () => {
  let system: TestSystem;
  let queueUrl: string;
  let deadLetterQueueUrl: string;
  beforeAll(async () => {
    system = await startTestSystem();
  });
  afterAll(() => system.close());
  beforeEach(async () => {
    deadLetterQueueUrl = await system.createQueue();
    const deadLetterTargetArn = `arn:aws:sqs:eu-central-1:000000000000:${deadLetterQueueUrl.split("/").at(-1)}`;
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
    queueUrl = await system.createQueue({ RedrivePolicy, VisibilityTimeout: "60" });
  });

  const send: Send = (url, messages) => sqsSender(system.sqs)(url, messages);
  const run = (changes: Partial<RedrivePorts> = {}) =>
    redrive({
      source: queueDeadLetters(system.sqs, deadLetterQueueUrl, () => 60),
      isWanted: () => true,
      send,
      queueUrl,
      orderOf: () => ({}),
      run: "run-1",
      limit: Number.POSITIVE_INFINITY,
      onProgress: () => undefined,
      ...changes,
    });
  const sendDeadLetters = async (...bodies: readonly string[]) => {
    for (const body of bodies) await send(deadLetterQueueUrl, [{ body, reason: `because of ${body}` }]);
  };
  const messagesIn = async (url: string) =>
    (await system.drain(url)).map(({ Body = "", MessageAttributes = {} }) => ({
      body: Body,
      reason: MessageAttributes.reason?.StringValue,
      returns: MessageAttributes.returns?.StringValue,
    }));

  /** Delivers the queue's messages to a function that rejects them, as the event source does. */
  const rejectAll = async () => {
    const messages = await system.receive(queueUrl);
    const reject = handleEachRecord(
      () => Promise.reject(permanent("again")),
      rejectPermanent(send, deadLetterQueueUrl, () => undefined),
    );
    expect(await reject(sqsEvent(messages))).toEqual({ batchItemFailures: [] });
    for (const { ReceiptHandle } of messages)
      await system.sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
  };

  /** Receives all messages once more than the queue allows, so that SQS moves them. */
  const receiveTooOften = async () => {
    const command = new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: 10,
      VisibilityTimeout: 0,
    });
    while ((await system.sqs.send(command)).Messages?.length !== undefined);
  };

  it("sends each dead letter to its queue, with its count and without its old reason, and takes it away", async () => {
    const bodies = Array.from({ length: 23 }, (_, index) => `letter ${index}`);
    await sendDeadLetters(...bodies);
    const reported: number[] = [];
    const onProgress = (redriven: number) => reported.push(redriven);
    expect(await run({ onProgress })).toEqual({ redriven: 23, left: 0, again: 0, failed: [], twice: 0 });
    expect(reported.length).toBeGreaterThanOrEqual(3);
    expect(reported.at(-1)).toBe(23);
    const sent = await messagesIn(queueUrl);
    expect(sent.map(({ body }) => body).sort()).toEqual(bodies.sort());
    for (const { returns, reason } of sent) expect([returns, reason]).toEqual(["1 run-1", undefined]);
    expect(await messagesIn(deadLetterQueueUrl)).toEqual([]);
  });

  it("gives a dead letter that a function rejects again its count, and sends it once", async () => {
    await sendDeadLetters("a", "b", "c");
    const rejecting: Send = async (url, messages) => {
      const failures = await send(url, messages);
      await rejectAll();
      return failures;
    };
    expect(await run({ send: rejecting })).toMatchObject({ redriven: 3, left: 3, again: 3 });
    expect((await messagesIn(deadLetterQueueUrl)).sort((a, b) => a.body.localeCompare(b.body))).toEqual(
      ["a", "b", "c"].map((body) => ({ body, reason: "again", returns: "1 run-1" })),
    );
  });

  it("continues the count in the next run, even if SQS moved the dead letter", async () => {
    await sendDeadLetters("a");
    await run();
    await receiveTooOften();

    expect(await run({ run: "run-2" })).toMatchObject({ redriven: 1, again: 0 });

    expect(await messagesIn(queueUrl)).toEqual([{ body: "a", reason: undefined, returns: "2 run-2" }]);
  });

  it("takes dead letters by reason or by id, up to a limit, and leaves the others", async () => {
    await sendDeadLetters("a", "b", "ab");
    const isWanted: RedrivePorts["isWanted"] = (deadLetter) => isSelected(deadLetter, { reason: "of b" });
    expect(await run({ isWanted })).toMatchObject({ redriven: 1, left: 2 });
    expect((await messagesIn(queueUrl)).map(({ body }) => body)).toEqual(["b"]);
    expect(await run({ limit: 1 })).toMatchObject({ redriven: 1 });
    expect(await messagesIn(deadLetterQueueUrl)).toHaveLength(1);
  });

  it("leaves a dead letter that cannot be sent, and reports why", async () => {
    const { MessageId } = await system.sqs.send(
      new SendMessageCommand({ QueueUrl: deadLetterQueueUrl, MessageBody: "a" }),
    );
    const endFault = system.fail("sqs:SendMessageBatch", queueUrl.split("/").at(-1));
    expect(await run()).toMatchObject({
      redriven: 0,
      left: 1,
      failed: [{ messageId: MessageId, reason: "ServiceUnavailable" }],
    });
    endFault();
    expect(await messagesIn(deadLetterQueueUrl)).toMatchObject([{ body: "a" }]);
  });

  it("loses nothing if it ends between sending and deleting: the dead letter is sent twice", async () => {
    await sendDeadLetters("a");
    const endFault = system.fail("sqs:DeleteMessageBatch");
    await expect(run()).rejects.toThrow("injected by the test");
    endFault();
    expect(await messagesIn(queueUrl)).toHaveLength(1);
    expect(await run({ run: "run-2" })).toMatchObject({ redriven: 1 });
  });

  it("sends a dead letter that fills a whole message, without a count, and still only once", async () => {
    const large = "x".repeat(1_048_576);
    await system.send(deadLetterQueueUrl, large);
    const movedBySqs: Send = async (url, messages) => {
      const failures = await send(url, messages);
      await receiveTooOften();
      return failures;
    };
    expect(await run({ send: movedBySqs })).toMatchObject({ redriven: 1, again: 1 });
    const [message, ...others] = await messagesIn(deadLetterQueueUrl);
    expect(others).toEqual([]);
    expect(message?.body === large && message.returns).toBe(undefined);
  });

  it("takes dead letters of the archive, each as it was, and their objects away", async () => {
    const bucket = await system.createBucket();
    const archive = deadLetterArchive(system.s3, bucket.name);
    const sentAt = new Date("2026-11-07T00:00:00Z");
    for (let index = 0; index < 12; index += 1) {
      await archive.put("users", { messageId: `m-${index}`, sentAt, receives: 1, body: `letter ${index}` });
    }
    await archive.put("users", { messageId: "m-x", sentAt, receives: 1, body: "x", returns: "4 run-0" });
    await archive.put("accounts", { messageId: "m-0", sentAt, receives: 1, body: "another queue's" });

    expect(await run({ source: archive.source("users") })).toMatchObject({ redriven: 13, left: 0 });

    const sent = await messagesIn(queueUrl);
    expect(sent).toHaveLength(13);
    expect(sent).toContainEqual({ body: "x", reason: undefined, returns: "5 run-1" });
    expect(await bucket.keys()).toEqual(["dead-letters/accounts/2026-11-07/m-0.json"]);
    expect([await archive.count("users"), await archive.count("accounts")]).toEqual([0, 1]);
  });
});
