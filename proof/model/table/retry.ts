import { giveUpLimits, isGivenUp, type Pace, waitFor } from "../../../domain/fetch/waiting.ts";
import { attempt, batchStep, step, type Work } from "./process.ts";
import { keyOf } from "./provider.ts";
import type { Grouped, Received } from "./queues.ts";
import type { Task, World } from "./world.ts";

export type TaskMessage = Received<Task> & Pick<Grouped<Task>, "group">;

const pace: Pace = { baseSeconds: 2, maxSeconds: 900 };
const limits = giveUpLimits(14 * 86_400);

/** Deletes tasks that are done, or void. */
export function* end(world: World, messages: readonly TaskMessage[]): Work {
  yield* batchStep(
    "deletes tasks",
    messages.map((message) => () => {
      if (world.tasks.remove(message)) requireDone(world, message);
    }),
  );
}

/** A task ends with a document that was read since what it was sent for, or with its subject's erasure. */
function requireDone(world: World, { body: { task, version } }: TaskMessage): void {
  if (task.task !== "fetchDocument" || world.table.isErased(task.subject)) return;
  const read = world.table.documents.get(keyOf(task))?.truth.version ?? -1;
  world.require(read >= version, "a task ends with its document");
}

export function* hide(world: World, message: TaskMessage, seconds: number): Work {
  // What can't be hidden comes again when its visibility ends.
  yield* attempt(step("hides a task", () => world.tasks.hide(message, world.queueTime + seconds * 1_000)));
}

/** Lets a task that failed wait, or makes it a dead letter with its reason. */
export function* retry(world: World, message: TaskMessage, reason: string, now: number): Work {
  const { body, group, receives, sentAt } = message;
  if (!isGivenUp(receives, (now - sentAt) / 1_000, limits)) {
    return yield* hide(world, message, waitFor(receives, pace, (world.now % 101) / 100));
  }
  yield* step("sends a dead letter", () => world.tasks.reject(body, group, reason));
  yield* step("deletes a task that is given up", () => world.tasks.remove(message));
}
