import { setTimeout as sleep } from "node:timers/promises";
import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
} from "@aws-sdk/client-sqs";
import type { Kind } from "../../domain/events.ts";
import { pascalCase } from "../../lib/names.ts";
import type { LocalFunction } from "../../local/stack.ts";
import type { Part } from "../sides.ts";
import type { Webhook } from "../workload.ts";
import { type BatchAnswer, httpEvent, queueEvent, readBatchAnswer } from "./invocations.ts";
import { type RunningSide, webhookSecret } from "./running-side.ts";

/** What the functions of one part of the way spent. */
export type Spent = {
  readonly invocations: number;
  readonly cpuMicros: number;
  readonly millis: number;
  readonly maxResidentBytes: number;
};
export type SpentByPart = Readonly<Record<Part, Spent>>;

/** As the stack's event sources are set. */
const queueBatch = 10;
const streamBatch = 100;
const pollMs = 100;

/**
 * Takes deliveries through all functions of a side until nothing is left to do: each function one batch at a time, every
 * side the same batches. What a function fails is tried again, as the event source would.
 */
export async function drive(running: RunningSide, webhooks: readonly Webhook[]): Promise<SpentByPart> {
  const spent = new Map<Part, Spent>();
  const invoke = async (part: Part, target: LocalFunction, event: unknown): Promise<unknown> => {
    const outcome = await target.invoke(JSON.stringify(event));
    if (outcome.kind !== "returned" || outcome.usage === undefined) {
      throw new Error(`${running.side}: ${target.logicalId} failed: ${JSON.stringify(outcome)}`);
    }
    spent.set(part, add(spent.get(part) ?? nothing, outcome.usage));
    return JSON.parse(outcome.payload);
  };
  const drain = async (part: Part, target: LocalFunction, queueUrl: string): Promise<boolean> => {
    const messages = await receive(running, queueUrl);
    if (messages.length === 0) return false;
    const answer = readBatchAnswer(await invoke(part, target, queueEvent(messages)));
    await remove(running, queueUrl, messages, answer);
    return true;
  };
  const relay = async (): Promise<boolean> => {
    const records = await running.changes();
    for (let start = 0; start < records.length; start += streamBatch) {
      const Records = records.slice(start, start + streamBatch);
      const { failed } = readBatchAnswer(
        await invoke("relay", running.function("RelayChanges"), { Records }),
      );
      if (failed.length > 0) throw new Error(`${running.side}: the relay failed a change`);
    }
    return records.length > 0;
  };

  for (const { kind, body } of webhooks) {
    const target = running.function(`${pascalCase(kind)}ReceiveFunction`);
    const answer = await invoke("receive", target, httpEvent(kind, body, webhookSecret));
    const status = Number(Object(answer).statusCode);
    if (status < 200 || status > 299) throw new Error(`${running.side}: a webhook was answered ${status}`);
  }
  const kinds = [...new Set(webhooks.map(({ kind }) => kind))];
  for (let isBusy = true; isBusy; ) {
    isBusy = false;
    for (const kind of kinds) {
      const target = running.function(`${pascalCase(kind)}StoreFunction`);
      while (await drain("store", target, queueUrlOf(running, kind))) isBusy = true;
    }
    isBusy = (await relay()) || isBusy;
    const fetchQueue = running.stack.outputs.FetchQueueUrl ?? "";
    while (await drain("fetch", running.function("FetchData"), fetchQueue)) isBusy = true;
    // A call that waits for the rate hides its task for a moment, and a start is checked a second later.
    if (!isBusy && (await isAnyLeft(running, fetchQueue))) isBusy = await sleep(pollMs, true);
  }
  const of = (part: Part) => spent.get(part) ?? nothing;
  return { receive: of("receive"), store: of("store"), relay: of("relay"), fetch: of("fetch") };
}

const nothing: Spent = { invocations: 0, cpuMicros: 0, millis: 0, maxResidentBytes: 0 };

function add(sum: Spent, { cpuMicros, millis, maxResidentBytes }: Omit<Spent, "invocations">): Spent {
  return {
    invocations: sum.invocations + 1,
    cpuMicros: sum.cpuMicros + cpuMicros,
    millis: sum.millis + millis,
    maxResidentBytes: Math.max(sum.maxResidentBytes, maxResidentBytes),
  };
}

function queueUrlOf({ stack }: RunningSide, kind: Kind): string {
  return stack.outputs[`${pascalCase(kind)}QueueUrl`] ?? "";
}

async function receive({ sqs }: RunningSide, QueueUrl: string): Promise<readonly Message[]> {
  const command = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: queueBatch,
    MessageSystemAttributeNames: ["All"],
    MessageAttributeNames: ["All"],
  });
  return (await sqs.send(command)).Messages ?? [];
}

const later = ["ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"] as const;

async function isAnyLeft({ sqs }: RunningSide, QueueUrl: string): Promise<boolean> {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...later] });
  const { Attributes = {} } = await sqs.send(command);
  return later.some((name) => Number(Attributes[name]) > 0);
}

async function remove(
  { sqs }: RunningSide,
  QueueUrl: string,
  messages: readonly Message[],
  { failed }: BatchAnswer,
): Promise<void> {
  const done = messages.filter(({ MessageId = "" }) => !failed.includes(MessageId));
  if (done.length === 0) return;
  const Entries = done.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
  await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
}
