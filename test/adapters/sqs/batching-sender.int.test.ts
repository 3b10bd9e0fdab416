import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { batchingSender } from "../../../adapters/sqs/batching-sender.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { CountdownLatch } from "../../../functions/fetch/write-barrier.ts";
import { startTestSystem } from "../../support/engines.ts";

let queueUrl: string;

const system = await startTestSystem();
afterAll(() => system.close());
beforeEach(async () => {
  queueUrl = await system.createQueue();
});

const requests = () => system.calls().get("test sqs:SendMessageBatch") ?? 0;
const bodies = async (url: string) => (await system.drain(url)).map(({ Body }) => Body).toSorted();
const hour = 3_600_000;

describe("messages that several send to a queue at the same time", () => {
  test("go with one request", async () => {
    const send = batchingSender(sqsSender(system.sqs));
    const before = requests();
    const outcomes = await Promise.all([
      send(queueUrl, [{ body: "a" }]),
      send(queueUrl, []),
      send(queueUrl, [{ body: "b" }, { body: "c" }]),
    ]);
    expect(outcomes).toEqual([[undefined], [], [undefined, undefined]]);
    expect(requests() - before).toBe(1);
    expect(await bodies(queueUrl)).toEqual(["a", "b", "c"]);
  });

  test("go with one request where who is ready first waits for the other", async () => {
    const send = batchingSender(sqsSender(system.sqs));
    const before = requests();
    const latch = new CountdownLatch(2);
    const [first, last] = [latch.join(), latch.join()];
    const quick = send(queueUrl, [{ body: "a" }], () => first.wait(hour));
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([quick, send(queueUrl, [{ body: "b" }], () => last.wait(hour))]);
    expect(requests() - before).toBe(1);
  });

  test("go apart where the queues are others", async () => {
    const send = batchingSender(sqsSender(system.sqs));
    const other = await system.createQueue();
    await Promise.all([send(queueUrl, [{ body: "a" }]), send(other, [{ body: "b" }])]);
    expect([await bodies(queueUrl), await bodies(other)]).toEqual([["a"], ["b"]]);
  });

  test("are each told its own outcome", async () => {
    const refused = { type: "retryable", reason: "no", delayInSeconds: 0 } as const;
    const send = batchingSender(async (_, messages) =>
      messages.map(({ body }) => (body === "bad" ? refused : undefined)),
    );
    const outcomes = await Promise.all([send("queue", [{ body: "good" }]), send("queue", [{ body: "bad" }])]);
    expect(outcomes).toEqual([[undefined], [refused]]);
  });
});
