import { setTimeout as wait } from "node:timers/promises";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { queueDepth } from "@income-events/local-stack/sources/drained.ts";
import { fifoOrder } from "../../scenario/clients.ts";
import { askForErasure } from "../../scenario/erasure.ts";
import type { ChaosSystem } from "../system.ts";
import { sendRound } from "./send-round.ts";

export type Load = {
  /** Resolves when so many rounds more were brought, or it is over. */
  rounds(count: number): Promise<void>;
  /** Ends it; resolves when the last round was brought. */
  stop(): Promise<void>;
  /** Users whose erasure was asked for. */
  readonly erased: ReadonlySet<string>;
};

/** More deliveries than these wait: the next round waits too. */
const maxPending = 30;
/** Erasures that wait. */
const maxErasures = 6;
const betweenRoundsMs = 2_000;
const betweenInvocationsMs = 500;
const scheduled = ["RefreshToken", "RegisterWebhooks", "ReconcileUsers", "ArchiveLetters"];
/** All of the 14 days that a queue keeps a message: with it every dead letter nears its end. */
const archiveAll = JSON.stringify({ beforeEndSeconds: 14 * 86_400 });
/** Neither an event nor a task. */
const unreadableTask = '{"schemaVersion":0}';

/** Brings rounds one after the other, and invokes what schedules would. */
export function keepLoading(system: ChaosSystem, progress: (step: string) => void): Load {
  const { provider, stack, access, functions } = system;
  const sqs = new SQSClient(access);
  const erased = new Set<string>();
  let brought = 0;
  let isOver = false;

  const bring = async (): Promise<void> => {
    // Of rounds before: by now there is something of them to erase.
    const erasable: string[] = [];
    while (!isOver) {
      brought += 1;
      const users = await sendRound(provider, brought);
      const MessageBody = unreadableTask;
      const QueueUrl = outputOf(stack, "FetchQueueUrl");
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...fifoOrder(QueueUrl) }));
      // What comes late of who was erased leads to more erasures: they must not pile up.
      const waiting = await queueDepth(sqs, outputOf(stack, "EraseQueueUrl"));
      for (const userId of erasable.splice(0, maxErasures - waiting)) await erase(userId);
      erasable.push(...users);
      while (!isOver && (await provider.call("pending")) > maxPending) await wait(betweenRoundsMs);
      await wait(betweenRoundsMs);
    }
  };
  /** And lets the provider sends again what it reported before, as a late retry does. */
  const erase = async (userId: string): Promise<void> => {
    erased.add(userId);
    await askForErasure(sqs, outputOf(stack, "EraseQueueUrl"), userId);
    await provider.call("resendOf", userId);
  };
  const invoke = async (name: string): Promise<void> => {
    const target = functions.get(name);
    if (target === undefined) throw new Error(`The assembly has no function ${name}`);
    while (!isOver) {
      // What fails, the next run does: so it is with a schedule.
      await target.invoke(name === "ArchiveLetters" ? archiveAll : "{}");
      await wait(betweenInvocationsMs);
    }
  };
  const work = Promise.all([bring(), ...scheduled.map(invoke)]);
  work.catch((error: unknown) => progress(String(error)));
  return {
    rounds: async (count) => {
      const end = brought + count;
      while (brought < end && !isOver) await Promise.race([wait(100), work]);
    },
    stop: async () => {
      isOver = true;
      await work;
      sqs.destroy();
    },
    erased,
  };
}
