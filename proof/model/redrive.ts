import { redrive, taskOrder } from "../../packages/cli/dead-letters/redrive.ts";
import { sender } from "./ports.ts";
import type { Do } from "./processes.ts";
import type { Message, Queue } from "./queue.ts";
import type { Surroundings } from "./surroundings.ts";

/** Redrives dead letters as the command does. */
export async function redriveDeadLetters(
  simulation: Surroundings,
  step: Do,
  { name, queue, isWanted }: { name: string; queue: Queue; isWanted: (deadLetter: Message) => boolean },
): Promise<void> {
  const letters = queue.deadLetters.filter(isWanted);
  await redrive({
    source: async (look) => {
      const { done } = await look(
        letters.map(({ id, sentAt, ...letter }) => ({ ...letter, messageId: id, sentAt: new Date(sentAt) })),
      );
      const taken = new Set(done.map(({ messageId }) => messageId));
      await step("takes dead letters away", () => {
        queue.deadLetters = queue.deadLetters.filter(({ id }) => !taken.has(id));
      });
      return { notRemoved: 0, mayHaveMore: false };
    },
    isWanted: () => true,
    send: sender(simulation, step),
    queueUrl: name,
    orderOf: name === "fetch" ? taskOrder : () => ({}),
    run: "run",
    limit: Number.POSITIVE_INFINITY,
    onProgress: () => undefined,
  });
}
