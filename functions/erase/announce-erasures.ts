import { FailureError } from "../../domain/core/failures.ts";
import { messageOfErasure } from "../../domain/message/message.ts";
import { correlationOfErasure, type EraseTask } from "../../domain/recovery/erasure.ts";
import type { StepDependencies } from "./dependencies.ts";

/**
 * Notifies subscribers of each that was erased, unless they know; killed in between, they are notified once more. Keeps
 * what was found, but for late copies: there may be any number of them.
 */
export async function announceErasures(
  task: EraseTask,
  { digestOf, tombstones, publish, eventSource }: StepDependencies,
): Promise<void> {
  const marked = await Promise.all(
    task.erased.map(async (subject) => {
      const digest = await digestOf(subject);
      return { subject, digest, ...(await tombstones.place(digest, correlationOfErasure(task))) };
    }),
  );
  const unannounced = marked.filter(({ isAnnounced }) => !isAnnounced);
  const messages = unannounced.map(({ subject, erasedAt, correlationId }, index) => ({
    index,
    message: messageOfErasure(subject, erasedAt, eventSource, correlationId),
  }));
  const [failed] = await publish(messages);
  if (failed !== undefined) throw new FailureError(failed.failure);
  await Promise.all(unannounced.map(({ digest }) => tombstones.markAnnounced(digest)));
  const erasure = correlationOfErasure(task);
  if (erasure === undefined || task.cause === "arrived late") return;
  await Promise.all(marked.map(({ digest }) => tombstones.keepFound(digest, erasure, task)));
}
