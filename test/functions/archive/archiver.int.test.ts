import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { deadLetterArchive } from "../../../adapters/sqs/dead-letter-archive.ts";
import { queueDeadLetters } from "../../../adapters/sqs/queue-dead-letters.ts";
import { archiver } from "../../../functions/archive/archiver.ts";
import { startTestSystem, type TestBucket } from "../../support/engines.ts";
import { keptLog, type LogEntry } from "../support/lambda.ts";

const retentionSeconds = 1_000;
const beforeEndSeconds = 400;

const system = await startTestSystem();
afterAll(() => system.close());

describe("the archiver", () => {
  let bucket: TestBucket;
  let users: string;
  let fetch: string;
  let entries: LogEntry[];
  beforeEach(async () => {
    [bucket, users, fetch] = await Promise.all([
      system.createBucket(),
      system.createQueue(),
      system.createQueue(),
    ]);
  });

  /** @param secondsLater on the archiver's clock, relative to now */
  const run = (secondsLater: number, event: unknown = {}, getRemainingTimeInMillis = () => 60_000) => {
    const kept = keptLog();
    entries = kept.entries;
    const archive = archiver({
      sources: () =>
        new Map([
          ["users", queueDeadLetters(system.sqs, users, () => 60)],
          ["fetch", queueDeadLetters(system.sqs, fetch, () => 60)],
        ]),
      put: deadLetterArchive(system.s3, bucket.name).put,
      retentionSeconds,
      beforeEndSeconds,
      reservedSeconds: 10,
      now: () => new Date(Date.now() + secondsLater * 1000),
      log: kept.log,
    });
    return archive(event, { getRemainingTimeInMillis });
  };
  const nearEnd = retentionSeconds - beforeEndSeconds;
  const sendDeadLetter = (body: string, attributes: Record<string, string> = {}) =>
    system.sqs.send(
      new SendMessageCommand({
        QueueUrl: users,
        MessageBody: body,
        MessageAttributes: Object.fromEntries(
          Object.entries(attributes).map(([name, StringValue]) => [
            name,
            { DataType: "String", StringValue },
          ]),
        ),
      }),
    );
  const archived = async () =>
    Promise.all((await bucket.keys()).map(async (key) => JSON.parse((await bucket.bytes(key)).toString())));
  const bodiesIn = async (queueUrl: string) => (await system.drain(queueUrl)).map(({ Body }) => Body);

  it("writes dead letters near their end, with reason and sent time, each an object; then deletes them", async () => {
    const before = new Date();
    const { MessageId } = await sendDeadLetter('{"id":"1"}', { reason: "type: no", returns: "2 run" });
    await system.send(fetch, "a task");

    expect(await run(nearEnd)).toEqual({ archived: 2 });

    const day = before.toISOString().slice(0, 10);
    expect(await bucket.keys()).toEqual([
      expect.stringMatching(/^dead-letters\/fetch\//),
      `dead-letters/users/${day}/${MessageId}.json`,
    ]);
    const deadLetter = (await archived()).find(({ queue }) => queue === "users");
    expect(deadLetter).toEqual({
      schemaVersion: 1,
      queue: "users",
      messageId: MessageId,
      sentAt: expect.any(String),
      receives: 1,
      body: '{"id":"1"}',
      reason: "type: no",
      returns: "2 run",
    });
    expect(Math.abs(Date.parse(deadLetter.sentAt) - before.getTime())).toBeLessThan(60_000);
    expect([await bodiesIn(users), await bodiesIn(fetch)]).toEqual([[], []]);
    expect(entries).toContainEqual({ code: "DEAD_LETTERS_ARCHIVED", queue: "users", count: 1 });
  });

  it("leaves messages that are not near their end in the queue, visible at once", async () => {
    for (let index = 0; index < 12; index += 1) await sendDeadLetter(`letter ${index}`);

    expect(await run(nearEnd - 120)).toEqual({ archived: 0 });

    expect(await bucket.keys()).toEqual([]);
    expect(await bodiesIn(users)).toHaveLength(12);
    expect(entries).toEqual([]);
  });

  it("counts from when a message was first sent, even if SQS moved it", async () => {
    const deadLetterTargetArn = `arn:aws:sqs:eu-central-1:000000000000:${users.split("/").at(-1)}`;
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
    const source = await system.createQueue({ RedrivePolicy, VisibilityTimeout: "0" });
    await system.send(source, "given up");
    const [first] = await system.receive(source);
    while ((await system.receive(source)).length > 0);

    await run(nearEnd);

    expect(await archived()).toEqual([
      expect.objectContaining({
        messageId: first?.MessageId,
        sentAt: new Date(Number(first?.Attributes?.SentTimestamp)).toISOString(),
      }),
    ]);
  });

  it("accepts the limit for one run from its event", async () => {
    await sendDeadLetter("letter");
    expect(await run(0, { beforeEndSeconds: retentionSeconds - 1 })).toEqual({ archived: 0 });
    expect(await run(0, { beforeEndSeconds: retentionSeconds })).toEqual({ archived: 1 });
    await expect(run(0, { beforeEndSeconds: "all" })).rejects.toThrow("beforeEndSeconds");
  });

  it("keeps a dead letter exactly, however large and whatever it holds", async () => {
    const large = `no JSON, "quoted" \\ \t €${"x".repeat(1_048_000)}`;
    await sendDeadLetter(large);
    await run(nearEnd);
    expect(await archived()).toEqual([expect.objectContaining({ body: large })]);
  });

  it("overwrites the same object if it ended between writing and deleting", async () => {
    await sendDeadLetter("letter");
    const endFault = system.fail("sqs:DeleteMessageBatch");
    await expect(run(nearEnd)).rejects.toThrow("some dead letters were not archived");
    endFault();
    expect(entries).toContainEqual(expect.objectContaining({ code: "ARCHIVING_FAILED", queue: "users" }));
    expect(await bucket.keys()).toHaveLength(1);

    expect(await run(nearEnd)).toEqual({ archived: 1 });

    expect(await bucket.keys()).toHaveLength(1);
    expect(await bodiesIn(users)).toEqual([]);
  });

  it("leaves a dead letter in its queue while it can't be written, and archives the others", async () => {
    const { MessageId = "" } = await sendDeadLetter("refused");
    await sendDeadLetter("written");
    await system.send(fetch, "written too");
    const endFault = system.fail("s3:PutObject", `${MessageId}.json`);

    await expect(run(nearEnd)).rejects.toThrow("some dead letters were not archived");
    endFault();

    expect((await archived()).map(({ body }) => body).sort()).toEqual(["written", "written too"]);
    expect(await bodiesIn(users)).toEqual(["refused"]);
  });

  it("continues with the other queues if one cannot be read", async () => {
    await system.send(fetch, "a task");
    const endFault = system.fail("sqs:ReceiveMessage", users.split("/").at(-1));
    await expect(run(nearEnd)).rejects.toThrow("some dead letters were not archived");
    endFault();
    expect(await archived()).toEqual([expect.objectContaining({ queue: "fetch" })]);
  });

  it("ends before its time is over, and the next run continues", async () => {
    for (let index = 0; index < 25; index += 1) await sendDeadLetter(`letter ${index}`);
    const first = await run(nearEnd, {}, () => 9_000);
    expect(first.archived).toBeGreaterThan(0);
    expect(first.archived).toBeLessThanOrEqual(10);
    expect(await run(nearEnd)).toEqual({ archived: 25 - first.archived });
    expect(await archived()).toHaveLength(25);
  });
});
