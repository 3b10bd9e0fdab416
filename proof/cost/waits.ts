import { setTimeout as sleep } from "node:timers/promises";
import type { RunningImplementation } from "../bench/drive/running-implementation.ts";
import { type Part, parts } from "../bench/implementations.ts";

/** How often the functions of each part began to wait for AWS; calls that one waits for at the same time are one. */
export type Waits = () => Readonly<Record<Part, number>>;

/** So long each call takes: that what is called at once is waited for at once, as over a network. */
const delayInMillis = 5;

export function countWaits({ stack: { gateway, functions } }: RunningImplementation): Waits {
  const partOf = new Map(functions.map(({ name, logicalId }) => [name, partIn(logicalId)]));
  const waiting = new Map<string, number>();
  const waits = { receive: 0, store: 0, relay: 0, fetch: 0 };
  gateway.intercept(async ({ principal }, phase) => {
    const part = partOf.get(principal);
    if (part === undefined) return undefined;
    const others = waiting.get(principal) ?? 0;
    waiting.set(principal, phase === "before" ? others + 1 : others - 1);
    if (phase === "after") return undefined;
    if (others === 0) waits[part] += 1;
    await sleep(delayInMillis);
    return undefined;
  });
  return () => ({ ...waits });
}

/** `UsersReceiveFunction0123ABCD` is of the part `receive`. */
function partIn(logicalId: string): Part | undefined {
  return parts.find((part) =>
    new RegExp(`^([A-Z][A-Za-z]*)?${part}(Function|Changes|Data)`, "i").test(logicalId),
  );
}

export function byParts(figure: (part: Part) => number): Readonly<Record<Part, number>> {
  return {
    receive: figure("receive"),
    store: figure("store"),
    relay: figure("relay"),
    fetch: figure("fetch"),
  };
}
