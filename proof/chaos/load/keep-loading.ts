import { setTimeout as wait } from "node:timers/promises";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { queueDepth } from "@income-events/local-stack/sources/drained.ts";
import { fifoOrder } from "../../scenario/clients.ts";
import { askForErasure } from "../../scenario/erasure.ts";
import type { ChaosSystem } from "../system.ts";
import { sendRound } from "./send-round.ts";

export type Load = ReturnType<typeof keepLoading>;

/** Pending deliveries above which the next round waits. */
const maxPending = 30;
/** Maximum pending erasures. */
const maxErasures = 6;
/** Maximum time for which the next round waits for erasures. */
const longestCatchUpMs = 10_000;
const betweenRoundsMs = 2_000;
const betweenInvocationsMs = 500;
const scheduled = ["RefreshToken", "RegisterWebhooks", "ReconcileUsers", "ArchiveLetters"];
/** The 14 days for which a queue keeps a message: every dead letter then counts as near its end. */
const archiveAll = JSON.stringify({ beforeEndSeconds: 14 * 86_400 });
/** Neither an event nor a task. */
const unreadableTask = '{"schemaVersion":0}';

/** Sends rounds one after the other, and invokes the scheduled functions. */
export function keepLoading(system: ChaosSystem, progress: (step: string) => void) {
  const { sandbox, stack, access, functions } = system;
  const sqs = new SQSClient(access);
  const erased = new Set<string>();
  let brought = 0;
  let isOver = false;

  const erasures = () => queueDepth(sqs, outputOf(stack, "EraseQueueUrl"));
  const bring = async (): Promise<void> => {
    // Users of earlier rounds, of whom there is data to erase.
    const erasable: string[] = [];
    while (!isOver) {
      brought += 1;
      const users = await sendRound(sandbox, brought);
      const MessageBody = unreadableTask;
      const QueueUrl = outputOf(stack, "FetchQueueUrl");
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...fifoOrder(QueueUrl) }));
      for (const userId of erasable.splice(0, maxErasures - (await erasures()))) await erase(userId);
      erasable.push(...users);
      // Late data of erased users causes more erasures. If they piled up, no user could be erased in later rounds.
      const end = Date.now() + longestCatchUpMs;
      while (!isOver && Date.now() < end && (await erasures()) >= maxErasures) await wait(betweenRoundsMs);
      while (!isOver && sandbox.deliveries({ status: "pending" }).length > maxPending)
        await wait(betweenRoundsMs);
      await wait(betweenRoundsMs);
    }
  };
  /** Also lets the provider resend earlier reports, as a late retry does. */
  const erase = async (userId: string): Promise<void> => {
    erased.add(userId);
    await askForErasure(sqs, outputOf(stack, "EraseQueueUrl"), userId);
    system.resendOf(userId);
  };
  const invoke = async (name: string): Promise<void> => {
    const target = functions.get(name);
    if (target === undefined) throw new Error(`The assembly has no function ${name}`);
    while (!isOver) {
      // The next run retries a failure, as with a schedule.
      await target.invoke(name === "ArchiveLetters" ? archiveAll : "{}");
      await wait(betweenInvocationsMs);
    }
  };
  const work = Promise.all([bring(), ...scheduled.map(invoke)]);
  work.catch((error: unknown) => progress(String(error)));
  return {
    /** Resolves after this many more rounds, or when the load ends. */
    rounds: async (count: number): Promise<void> => {
      const end = brought + count;
      while (brought < end && !isOver) await Promise.race([wait(100), work]);
    },
    /** Ends the load; resolves after the last round. */
    stop: async (): Promise<void> => {
      isOver = true;
      await work;
      sqs.destroy();
    },
    /** Users whose erasure was requested. */
    erased,
  };
}
