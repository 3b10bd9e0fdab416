import { SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { mayHoldOthers, queueDeadLetters } from "../../../adapters/sqs/queue-dead-letters.ts";
import { type QueueSearch, searchQueue } from "../../../adapters/sqs/queue-messages.ts";
import type { DeadLetter } from "../../../domain/recovery/dead-letter.ts";
import { startTestSystem } from "../../support/engines.ts";
import { startTestProvider } from "../../support/test-provider.ts";

const system = await startTestSystem();
afterAll(() => system.close());

/** A queue that returns scripted batches, because SQS determines its own order. */
async function startScriptedQueue(batches: readonly (readonly string[])[]) {
  const waiting = [...batches];
  const service = await startTestProvider();
  service.answer = ({ headers }) => {
    const isReceive = headers["x-amz-target"] === "AmazonSQS.ReceiveMessage";
    const Messages = isReceive ? waiting.shift()?.map((id) => ({ MessageId: id, Body: id })) : undefined;
    return { json: { Messages } };
  };
  const endpoint = service.url;
  const credentials = { accessKeyId: "a", secretAccessKey: "b" };
  const client = new SQSClient({ endpoint, region: "eu-central-1", credentials, md5: false });
  return {
    client,
    url: `${endpoint}/000000000000/q`,
    close: async () => {
      client.destroy();
      await service.close();
    },
  };
}

describe("a long reading", () => {
  const read = async (batches: readonly (readonly string[])[]) => {
    const queue = await startScriptedQueue(batches);
    const seen: string[] = [];
    try {
      await queueDeadLetters(
        queue.client,
        queue.url,
        () => 60,
      )(async (deadLetters) => {
        seen.push(...deadLetters.map(({ messageId }) => messageId));
        return { done: deadLetters.filter(({ body }) => body.startsWith("done")), isEnough: false };
      });
      return seen;
    } finally {
      await queue.close();
    }
  };

  it("continues if dead letters are redelivered before others were seen", async () => {
    expect(await read([["a", "b"], ["a"], ["b", "c"], []])).toEqual(["a", "b", "c"]);
  });

  it("ends when every message was redelivered", async () => {
    expect(await read([["a", "b"], ["a", "b"], ["a"], ["b"], ["unseen"]])).toEqual(["a", "b"]);
  });

  it("returns a removed dead letter once, even if SQS redelivers it", async () => {
    expect(await read([["done-1"], ["done-1", "a"], []])).toEqual(["done-1", "a"]);
  });
});

describe("the dead letters of a queue", () => {
  let queueUrl: string;
  beforeEach(async () => {
    queueUrl = await system.createQueue();
    for (let index = 0; index < 25; index += 1) await system.send(queueUrl, `letter ${index}`);
  });

  const all = Array.from({ length: 25 }, (_, index) => `letter ${index}`).sort();
  const place = (hidden = 60) => queueDeadLetters(system.sqs, queueUrl, () => hidden);
  const bodiesOf = (deadLetters: readonly { readonly body: string }[]) =>
    deadLetters.map(({ body }) => body).sort();
  const left = async () => (await system.drain(queueUrl)).map(({ Body = "" }) => Body).sort();

  it("are each seen once, and are visible again when the reading ends", async () => {
    const seen: DeadLetter[] = [];
    const result = await place()(async (deadLetters) => {
      expect(deadLetters.length).toBeLessThanOrEqual(10);
      seen.push(...deadLetters);
      return { done: [], isEnough: false };
    });
    expect(result).toEqual({ notRemoved: 0, mayHaveMore: false });
    expect(bodiesOf(seen)).toEqual(all);
    const after = await system.drain(queueUrl);
    expect(after.map(({ Body = "" }) => Body).sort()).toEqual(all);
    expect(new Set(after.map(({ Attributes }) => Attributes?.ApproximateReceiveCount))).toEqual(
      new Set(["2"]),
    );
  });

  it("are removed if they are done, and no others", async () => {
    await place()(async (deadLetters) => ({
      done: deadLetters.filter(({ body }) => body.endsWith("4")),
      isEnough: false,
    }));
    expect(await left()).toEqual(all.filter((body) => !body.endsWith("4")));
  });

  it("stay in the queue when the caller stops", async () => {
    let batches = 0;
    await place()(async () => {
      batches += 1;
      return { done: [], isEnough: true };
    });
    expect(batches).toBe(1);
    expect(await left()).toEqual(all);
  });

  it("are released if checking them fails", async () => {
    await expect(place()(() => Promise.reject(new Error("looking failed")))).rejects.toThrow(
      "looking failed",
    );
    expect(await left()).toEqual(all);
  });

  it("are released if they cannot be removed", async () => {
    const endFault = system.fail("sqs:DeleteMessageBatch");
    await expect(place()(async (done) => ({ done, isEnough: false }))).rejects.toThrow(
      "injected by the test",
    );
    endFault();
    expect(await left()).toEqual(all);
  });

  it("may omit some if another reader holds them, or if the caller stopped early", async () => {
    const asked = queueDeadLetters(system.sqs, queueUrl, () => 60, mayHoldOthers(system.sqs, queueUrl));
    const look = (isEnough: boolean) => async () => ({ done: [], isEnough });
    expect(await asked(look(true))).toEqual({ notRemoved: 0, mayHaveMore: true });
    expect(await asked(look(false))).toEqual({ notRemoved: 0, mayHaveMore: false });
    await system.receive(queueUrl);
    expect(await asked(look(false))).toEqual({ notRemoved: 0, mayHaveMore: true });
  });

  it("omit those that another reader holds", async () => {
    const others = await system.receive(queueUrl);
    const seen: DeadLetter[] = [];
    await place()(async (deadLetters) => {
      seen.push(...deadLetters);
      return { done: deadLetters, isEnough: false };
    });
    expect(seen).toHaveLength(25 - others.length);
    expect(await left()).toEqual([]);
  });
});

describe("a search in a queue", () => {
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
