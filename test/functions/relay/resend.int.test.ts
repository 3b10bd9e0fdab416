import { CreateQueueCommand, DeleteQueueCommand } from "@aws-sdk/client-sqs";
import { beforeEach, expect, test } from "vitest";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { parkedBatches } from "../../../adapters/streams/change-stream.ts";
import type { Failure } from "../../../domain/core/failures.ts";
import { testMessage } from "../../../domain/message/test-message.ts";
import { publisher, retryWaitsMs } from "../../../functions/runtime/subscriber-queues.ts";
import { describeOnTables } from "../../support/engines.ts";
import { accountEvent, relayFixture, source } from "../support/relay-fixture.ts";

await describeOnTables("what a subscriber's queue refused", (tables) => {
  const fixture = relayFixture(tables);
  const { record, relayed, invoke, messages } = fixture;
  const receivedAt = "2026-11-21T12:00:00.000Z";
  const queueUrl = () => fixture.subscribers.everything.queueUrl;
  const lose = () => fixture.system.sqs.send(new DeleteQueueCommand({ QueueUrl: queueUrl() }));
  const restore = () =>
    fixture.system.sqs.send(new CreateQueueCommand({ QueueName: queueUrl().split("/").at(-1) }));
  const parked = async () =>
    (await parkedBatches(overflowBucket(fixture.bucket.name))).get("everything") ?? [];
  const after = (minutes: number) => {
    fixture.now = () => new Date(Date.now() + minutes * 60_000);
  };

  beforeEach(async () => {
    await record(accountEvent({ receivedAt }), accountEvent({ receivedAt }));
    const events = await relayed();
    await invoke(events);
    await lose();
    await invoke((await relayed()).slice(events.length));
    // Latency counts only once a parked message is sent.
    expect(fixture.entries.at(-1)).toMatchObject({ code: "RELAYED", messages: 2 });
    expect(fixture.entries.at(-1)).not.toHaveProperty("latencies");
    fixture.entries.length = 0;
  });

  test("is resent automatically once the queue accepts it, to that subscriber alone, and is no longer parked", async () => {
    const others = await messages(fixture.subscribers.accounts.queueUrl);
    fixture.now = () => new Date(Date.parse(receivedAt) + 90_000);
    await restore();
    await fixture.resend();
    const sent = await messages(queueUrl());
    expect(sent.map(({ id }) => id).toSorted()).toEqual(others.map(({ id }) => id).toSorted());
    expect(await messages(fixture.subscribers.accounts.queueUrl)).toEqual([]);
    expect(await parked()).toEqual([]);
    const latencies = { toSubscriber: [90_000, 90_000] };
    expect(fixture.entries).toEqual([
      { code: "SUBSCRIBER_RESENT", subscriber: "everything", count: 2, latencies },
    ]);
  });

  test("raises no alarm within a quarter hour, one after it, and stays parked", async () => {
    after(14);
    await fixture.resend();
    expect(fixture.entries).toEqual([]);
    after(16);
    await fixture.resend();
    expect(fixture.entries).toMatchObject([
      {
        code: "SUBSCRIBER_UNREACHABLE",
        subscriber: "everything",
        reason: expect.stringMatching(/QueueDoesNotExist/),
      },
    ]);
    expect(await parked()).toHaveLength(1);
  });

  test("is sent to nobody once its person is erased", async () => {
    const [{ subject = "" } = {}] = await messages(fixture.subscribers.accounts.queueUrl);
    await fixture.bury({ kind: "account", id: subject.split("/")[1] ?? "" });
    await restore();
    await fixture.resend();
    const sent = await messages(queueUrl());
    expect(sent).toHaveLength(1);
    expect(sent[0]?.subject).not.toBe(subject);
  });
});

test.each([
  [60, [250, 1_000, 2_500]],
  [15, [250, 1_000, 2_500]],
  [14, [250, 1_000]],
  [4, [250]],
  [0, []],
])("a function of %i s waits for a queue that refuses messages for a quarter of that", (seconds, waits) => {
  expect(retryWaitsMs(seconds)).toEqual(waits);
});

test("a queue that refuses messages is tried again for seconds, but not in the next minute once more", async () => {
  const waits: number[] = [];
  let [now, refusals] = [0, 2];
  const refused: Failure = { type: "retryable", reason: "SQS: ServiceUnavailable", delayInSeconds: 0 };
  const send = async (_: string, texts: readonly unknown[]) => {
    refusals -= 1;
    return texts.map(() => (refusals < 0 ? undefined : refused));
  };
  const subscribers = [{ name: "billing", queueUrl: "queue", deadLetterQueueUrl: "dead letters" }];
  const wait = async (milliseconds: number) => void waits.push(milliseconds);
  const retries = { waitsMs: [250, 1_000, 2_500], wait, now: () => new Date(1e12 + now) };
  const publish = publisher(send, subscribers, () => undefined, { retries });
  const message = testMessage("id", "billing", source, new Date(0));
  const publishOne = () => publish([{ index: 0, message }]);

  expect([await publishOne(), waits]).toEqual([[], [250, 1_000]]);
  refusals = 4;
  expect(await publishOne()).toMatchObject([{ subscriber: "billing", failure: refused }]);
  expect(waits).toEqual([250, 1_000, 250, 1_000, 2_500]);
  [now, refusals] = [59_000, 1];
  expect(await publishOne()).toMatchObject([{ subscriber: "billing" }]);
  expect(waits).toHaveLength(5);
  [now, refusals] = [120_000, 1];
  expect([await publishOne(), waits.length]).toEqual([[], 6]);
});
