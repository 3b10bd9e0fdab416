import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { queueLetters } from "../../adapters/queue-letters.ts";
import type { DeadLetter } from "../../domain/dead-letter.ts";
import { startTestSystem, type TestSystem } from "../support/engines.ts";

describe("the letters of a queue", () => {
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
  const place = (hidden = 60) => queueLetters(system.sqs, queueUrl, () => hidden);
  const bodiesOf = (letters: readonly { readonly body: string }[]) => letters.map(({ body }) => body).sort();
  const left = async () => (await system.drain(queueUrl)).map(({ Body = "" }) => Body).sort();

  it("are each seen once, and can be received at once when the reading ends, received once more", async () => {
    const seen: DeadLetter[] = [];
    const result = await place()(async (letters) => {
      expect(letters.length).toBeLessThanOrEqual(10);
      seen.push(...letters);
      return { done: [], isEnough: false };
    });
    expect(result).toEqual({ notTaken: 0 });
    expect(bodiesOf(seen)).toEqual(all);
    const after = await system.drain(queueUrl);
    expect(after.map(({ Body = "" }) => Body).sort()).toEqual(all);
    expect(new Set(after.map(({ Attributes }) => Attributes?.ApproximateReceiveCount))).toEqual(
      new Set(["2"]),
    );
  });

  it("are each seen once, and come to an end, also where they come round while they are still read", async () => {
    const seen: DeadLetter[] = [];
    await place(0)(async (letters) => {
      seen.push(...letters);
      return { done: [], isEnough: false };
    });
    expect(bodiesOf(seen)).toEqual(all);
  });

  it("are taken away where they are done, and no others", async () => {
    await place()(async (letters) => ({
      done: letters.filter(({ body }) => body.endsWith("4")),
      isEnough: false,
    }));
    expect(await left()).toEqual(all.filter((body) => !body.endsWith("4")));
  });

  it("are left alone when it is enough", async () => {
    let lots = 0;
    await place()(async () => {
      lots += 1;
      return { done: [], isEnough: true };
    });
    expect(lots).toBe(1);
    expect(await left()).toEqual(all);
  });

  it("are released where looking at them fails", async () => {
    await expect(place()(() => Promise.reject(new Error("looking failed")))).rejects.toThrow(
      "looking failed",
    );
    expect(await left()).toEqual(all);
  });

  it("are released where they can't be taken away", async () => {
    const endFault = system.fail("sqs:DeleteMessageBatch");
    await expect(place()(async (done) => ({ done, isEnough: false }))).rejects.toThrow(
      "injected by the test",
    );
    endFault();
    expect(await left()).toEqual(all);
  });

  it("leave out what another reader has in its hands", async () => {
    const others = await system.receive(queueUrl);
    const seen: DeadLetter[] = [];
    await place()(async (letters) => {
      seen.push(...letters);
      return { done: letters, isEnough: false };
    });
    expect(seen).toHaveLength(25 - others.length);
    expect(await left()).toEqual([]);
  });
});
