import { setTimeout as sleep } from "node:timers/promises";

/** Lets one function work until its queue, or the stream, shows nothing more. @returns whether there was anything */
export type Step = () => Promise<boolean>;

/** How often an idle function's queue is looked at, in milliseconds. */
export const pollMs = 100;

/** Lets functions work, one after the other, until queues and stream show nothing more. */
export async function workOff(steps: readonly Step[]): Promise<void> {
  for (let isBusy = true; isBusy; ) {
    isBusy = false;
    for (const step of steps) isBusy = (await step()) || isBusy;
  }
}

/** Lets functions work side by side, until something else is over and queues and stream show nothing more. */
export async function workSideBySide(
  others: Promise<unknown>,
  steps: readonly Step[],
  wait: () => Promise<unknown> = () => sleep(pollMs),
): Promise<void> {
  const idle = new Set<Step>();
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const repeat = async (step: Step) => {
    while (!isOver || idle.size < steps.length) {
      idle.delete(step);
      // What one has done is work for others: they must all look again.
      if (await step()) idle.clear();
      else {
        idle.add(step);
        await wait();
      }
    }
  };
  await Promise.all([others.finally(end), ...steps.map(repeat)]);
  // What was written while another looked.
  await workOff(steps);
}
