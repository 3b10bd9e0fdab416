import type { Simulation } from "./simulation.ts";

export const isReceiving = (what: string) => what === "deliver" || what.startsWith("receive");
/** All but the provider's calls: they wait. */
export const isBeforeFetch = (what: string) =>
  !/^poll (fetch|checks)/.test(what) && !/^(fetch|checks|refresh) /.test(what);

/** Lets go on what is chosen by name, until none of it is left to do. */
export async function drive(simulation: Simulation, isChosen: (what: string) => boolean): Promise<void> {
  await simulation.pause();
  for (;;) {
    const action = simulation.usual().find(({ what }) => isChosen(what));
    if (action === undefined) return;
    action.run();
    await simulation.pause();
  }
}
