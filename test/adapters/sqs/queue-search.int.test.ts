import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type QueueSearch, searchQueue } from "../../../adapters/sqs/queue-messages.ts";
import { startTestSystem, type TestSystem } from "../../support/engines.ts";

describe("a search in a queue", () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await startTestSystem();
  });
  afterAll(() => system.close());

  const queueWith = async (count: number) => {
    const queueUrl = await system.createQueue({ VisibilityTimeout: "60" });
    for (let index = 0; index < count; index += 1) await system.send(queueUrl, `other ${index}`);
    await system.send(queueUrl, "mine");
    return queueUrl;
  };
  const search = (queueUrl: string, changes: Partial<QueueSearch> = {}) =>
    searchQueue(system.sqs, {
      queueUrl,
      isWanted: (body) => body === "mine",
      isComplete: (found) => found.length > 0,
      others: "release",
      seconds: 20,
      ...changes,
    });
  const bodies = async (queueUrl: string) => (await system.drain(queueUrl)).map(({ Body }) => Body);

  it("finds a message behind others, removes it, and makes the others visible again at once", async () => {
    const queueUrl = await queueWith(25);

    expect(await search(queueUrl)).toMatchObject({ found: [{ body: "mine", reason: undefined }] });

    const left = await system.drain(queueUrl);
    expect(left.map(({ Body }) => Body).sort()).toEqual(
      Array.from({ length: 25 }, (_, index) => `other ${index}`).sort(),
    );
    // Received twice: by the search, and now.
    for (const { Attributes } of left)
      expect(Number(Attributes?.ApproximateReceiveCount)).toBeLessThanOrEqual(2);
  });

  it("releases its messages even if nothing is found in time", async () => {
    const queueUrl = await queueWith(3);

    const result = await search(queueUrl, { isWanted: () => false, seconds: 1 });

    expect(result).toEqual({ found: [], others: 4 });
    expect(await bodies(queueUrl)).toHaveLength(4);
  });

  it("releases its messages even if the queue fails meanwhile", async () => {
    const queueUrl = await queueWith(3);
    const endFault = system.fail("sqs:DeleteMessageBatch");
    await expect(search(queueUrl)).rejects.toThrow("injected by the test");
    endFault();

    expect((await bodies(queueUrl)).filter((body) => body !== "mine")).toHaveLength(3);
  });

  it("deletes the others too if nobody owns them", async () => {
    const queueUrl = await queueWith(12);

    const { others } = await search(queueUrl, { isComplete: (found) => found.length > 0, others: "delete" });

    expect(others).toBe(12);
    expect(await bodies(queueUrl)).toEqual([]);
  });
});
