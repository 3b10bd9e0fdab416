import { documents, type Name } from "./provider.ts";
import { usual } from "./simulation.ts";
import type { World } from "./world.ts";

function nameOf(name: Name | undefined): Name {
  if (name === undefined) throw new Error("the provider has no such document");
  return name;
}

/** Two documents of one account, of which the second comes in pages. */
export const income = nameOf(documents[0]);
export const employment = nameOf(documents[1]);
export const ofAnother = nameOf(documents[2]);

export const isReceiving = (what: string) => what.startsWith("receive") || what === "deliver";
export const isStoring = (what: string) => what.startsWith("store") || what === "poll webhooks";
export const isFetching = (what: string) => what.startsWith("fetch") || what === "poll tasks";
export const isBeforeFetch = (what: string) => !isFetching(what);

/** A document changes, and an event announces it. @param isStrong see `Provider` */
export function announce(world: World, name: Name, isStrong = true): void {
  world.provider.change(name, world.provider.contentOf(name).version);
  world.provider.announce(name, isStrong, world.isoTime);
}

/** Lets go on what is chosen by its name, until none of it is left to do. */
export function drive(world: World, isChosen: (what: string) => boolean): void {
  for (;;) {
    const action = usual(world).find(({ what }) => isChosen(what));
    if (action === undefined) return;
    action.run();
  }
}
