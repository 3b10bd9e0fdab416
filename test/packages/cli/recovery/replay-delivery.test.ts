import { describe, expect, it } from "vitest";
import type { Send } from "../../../../adapters/sqs/sqs-sender.ts";
import { messageOfState } from "../../../../domain/message/message.ts";
import type { Message } from "../../../../domain/message/message-schemas.ts";
import { replayDelivery } from "../../../../packages/cli/recovery/replay.ts";
import { applied, eventOf } from "../../../domain/samples.ts";

const subscriber = { name: "ledger", queueUrl: "https://sqs/ledger", deadLetterQueueUrl: "" };
const message = messageOfState(applied([eventOf("account.connected")]), "urn:test");
const messages = (count: number): Message[] =>
  Array.from({ length: count }, (_, index) => {
    if (message === undefined) throw new Error("the state has no message");
    return { ...message, id: `id-${index}` };
  });

function deliver(fails: (id: string, tries: number) => boolean) {
  const sent: string[] = [];
  const batches: number[] = [];
  const tries = new Map<string, number>();
  const send: Send = async (_, some) =>
    some.map(({ body }) => {
      const { id } = JSON.parse(body);
      tries.set(id, (tries.get(id) ?? 0) + 1);
      if (fails(id, tries.get(id) ?? 0)) return { type: "retryable", reason: "SQS: busy", delayInSeconds: 0 };
      sent.push(id);
      return undefined;
    });
  const paced = async (count: number) => {
    batches.push(count);
  };
  const delivery = replayDelivery(send, paced, async () => undefined);
  return { sent, batches, delivery: (some: readonly Message[]) => delivery(subscriber, some) };
}

describe("the delivery of a replay", () => {
  it("sends all, ten at a time, each batch within the pace", async () => {
    const { sent, batches, delivery } = deliver(() => false);
    await delivery(messages(23));
    expect(sent).toEqual(messages(23).map(({ id }) => id));
    expect(batches).toEqual([10, 10, 3]);
  });

  it("sends again what failed, and that alone", async () => {
    const { sent, batches, delivery } = deliver((id, tries) => id === "id-1" && tries < 3);
    await delivery(messages(3));
    expect(sent).toEqual(["id-0", "id-2", "id-1"]);
    expect(batches).toEqual([3, 1, 1]);
  });

  it("ends with the queue's name and reason where it takes no messages", async () => {
    const { delivery } = deliver((id) => id === "id-1");
    await expect(delivery(messages(3))).rejects.toThrow("The queue of ledger refuses messages: SQS: busy. ");
  });
});
