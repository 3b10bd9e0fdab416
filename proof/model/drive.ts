import { giveUpLimits } from "../../domain/fetch/task.ts";
import { accountIds } from "./provider.ts";
import type { Message } from "./queue.ts";
import { type Simulation, type WorkQueue, workQueues } from "./simulation.ts";

const limits = giveUpLimits(0);

export const isReceiving = (what: string) => what === "deliver" || what.startsWith("receive");
/** Every step before the provider's calls. */
export const isBeforeFetch = (what: string) =>
  !/^poll (fetch|checks)/.test(what) && !/^(fetch|checks|refresh) /.test(what);

/** Runs the chosen steps until none of them is left. */
export async function drive(simulation: Simulation, isChosen: (what: string) => boolean): Promise<void> {
  await simulation.pause();
  for (;;) {
    const action = simulation.usual().find(({ what }) => isChosen(what));
    if (action === undefined) return;
    action.run();
    await simulation.pause();
  }
}

/** Creates new data and processes its event up to its task. */
export async function announce(simulation: Simulation, accountId: string): Promise<void> {
  simulation.provider.happen(accountId, "data", true);
  await drive(simulation, isBeforeFetch);
}

const isFetching = (what: string) => what === "poll fetch" || what.startsWith("fetch ");

/** Reads the first page of the second account's list; the next read fails. */
export async function readFirstPage(simulation: Simulation): Promise<void> {
  await announce(simulation, accountIds[1]);
  await drive(simulation, (what) => isFetching(what) && !what.includes("cursor"));
  for (const { step } of simulation.processes.steps) step.go("fails");
  await drive(simulation, isFetching);
  for (const message of simulation.queue("fetch").messages) message.visibleAt = simulation.queueTime;
}

/** Takes the provider down until the waiting tasks are given up. */
export async function giveUp(simulation: Simulation): Promise<void> {
  for (const message of simulation.queue("fetch").messages) message.receives = limits.maxReceives - 1;
  simulation.provider.isDown = true;
  await drive(simulation, isFetching);
  simulation.provider.isDown = false;
}

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
