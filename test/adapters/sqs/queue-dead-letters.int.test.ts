import { SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { mayHoldOthers, queueDeadLetters } from "../../../adapters/sqs/queue-dead-letters.ts";
import type { DeadLetter } from "../../../domain/recovery/dead-letter.ts";
import { startTestProvider } from "../../../proof/support/test-provider.ts";
import { startTestSystem, type TestSystem } from "../../support/engines.ts";

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
  let system: TestSystem;
  let queueUrl: string;
  beforeAll(async () => {
    system = await startTestSystem();
  });
  afterAll(() => system.close());
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
