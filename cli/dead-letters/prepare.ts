import { readTaskText, resetAttempts, writeTask } from "../../domain/fetch/tasks.ts";

/**
 * What is sent in the place of a dead letter of a queue. A task counts its failed attempts, and since when it fails, in
 * itself: left there, it would be given up at once.
 */
export function preparing(queue: string): (body: string) => string {
  if (queue !== "fetch") return (body) => body;
  return (body) => {
    try {
      return writeTask(resetAttempts(readTaskText(body)));
    } catch {
      // What is no task of ours is for the function to evaluate.
      return body;
    }
  };
}
