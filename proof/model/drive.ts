import { giveUpLimits } from "../../domain/fetch/task.ts";
import { accountIds } from "./provider.ts";
import type { Simulation } from "./simulation.ts";

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
