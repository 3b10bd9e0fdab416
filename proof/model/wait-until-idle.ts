import type { Message } from "./queue.ts";
import { type Simulation, type WorkQueue, workQueues } from "./simulation.ts";

const maxSteps = 20_000;
const refreshEvery = 900_000;

/**
 * Runs without faults until idle: sends webhooks until they are answered, redrives dead letters, and sets a
 * token if the refresher raises its alarm.
 * @throws if it never becomes idle
 */
export async function waitUntilIdle(simulation: Simulation): Promise<void> {
  simulation.provider.isDown = false;
  await simulation.pause();
  for (let steps = 0; steps < maxSteps; steps += 1) {
    const [action] = simulation.usual();
    if (action !== undefined) action.run();
    else if (!simulation.provider.isValid(simulation.secret.current.token)) healToken(simulation);
    else if (simulation.untilNextVisible !== undefined) simulation.pass(simulation.untilNextVisible);
    else if (!redrive(simulation)) return;
    await simulation.pause();
  }
  throw new Error("it never comes to rest");
}

/** Runs the scheduled refresher; if it reported that it cannot help, sets a token as an operator does. */
function healToken(simulation: Simulation): void {
  const last = simulation.kept.entries.findLast(({ code }) => code.startsWith("TOKEN_"));
  if (last?.code === "TOKEN_REFUSED") simulation.secret.set(simulation.provider.issueToken());
  else {
    simulation.pass(refreshEvery);
    simulation.refresh();
  }
}

/** @returns whether there was something to redrive: an event with a reason waits for somebody to fix it */
function redrive(simulation: Simulation): boolean {
  const isWanted =
    (name: WorkQueue) =>
    ({ reason }: Message) =>
      name === "fetch" || name === "checks" || reason === undefined;
  const names = workQueues.filter((name) => simulation.queue(name).deadLetters.some(isWanted(name)));
  for (const name of names) simulation.redrive(name, isWanted(name));
  return names.length > 0;
}
