import { randomUUID } from "node:crypto";
import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { type Frames, scrollList } from "./frames.ts";
import type { OpenedSystem } from "./system.ts";

const queue = "company-accounts";
const queueOutput = "CompanyAccountsDeadLetterQueueUrl";
/** SQS takes so many at once. */
const perBatch = 10;
const senders = 8;

export type ShownDeadLetters = Frames & {
  /** From the address to the first dead letter. */
  readonly readSeconds: number;
  /** So many the page shows of them. */
  readonly rows: number;
  /** From the press on one until it is shown. */
  readonly openSeconds: number;
};

/** Lets a queue hold so many dead letters, opens its page, and scrolls through what that shows. */
export async function showDeadLetters(system: OpenedSystem, count: number): Promise<ShownDeadLetters> {
  await putDeadLetters(system, count);
  const { page, origin } = system;
  const panel = page.getByRole("region", { name: `Dead letters of ${queue}`, exact: true });
  const list = panel.getByRole("region", { name: "Dead letters", exact: true });
  const started = performance.now();
  await page.goto(`${origin}/dead-letters?queue=${queue}`);
  await list.getByRole("button").first().waitFor();
  const readSeconds = (performance.now() - started) / 1_000;
  const label = (await panel.getByRole("button", { name: /^Redrive / }).textContent()) ?? "";
  const frames = await scrollList(page);
  const pressed = performance.now();
  await list.getByRole("button").last().click();
  await panel.getByRole("region", { name: "The dead letter", exact: true }).waitFor();
  const openSeconds = (performance.now() - pressed) / 1_000;
  return { ...frames, readSeconds, rows: Number(label.replaceAll(/\D/g, "")), openSeconds };
}

async function putDeadLetters({ access, outputs }: OpenedSystem, count: number): Promise<void> {
  const sqs = new SQSClient(access);
  const QueueUrl = outputs[queueOutput];
  let left = count;
  const send = async () => {
    while (left > 0) {
      const size = Math.min(perBatch, left);
      left -= size;
      const Entries = Array.from({ length: size }, (_, index) => ({
        Id: String(index),
        MessageBody: JSON.stringify({ of: randomUUID() }),
        MessageAttributes: {
          reason: { DataType: "String", StringValue: `it is of no known type ${index}` },
        },
      }));
      await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    }
  };
  try {
    await Promise.all(Array.from({ length: senders }, send));
  } finally {
    sqs.destroy();
  }
}
