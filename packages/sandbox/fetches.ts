import { z } from "zod";
import type { Clock } from "./clock.ts";
import { endpointNames } from "./endpoint-names.ts";
import type { Store } from "./store.ts";

const storedFetch = z
  .object({
    requestId: z.string(),
    accountId: z.string(),
    endpoints: z.array(z.enum(endpointNames)).readonly(),
    endsAt: z.coerce.date(),
  })
  .readonly();
export type DataFetch = z.output<typeof storedFetch>;

/** Ends fetches on the clock. A fetch that a restart interrupted ends after it. */
export function createFetches(clock: Clock, store: Store, onEnd: (fetch: DataFetch) => void) {
  const kept = store.collection("fetches", storedFetch);
  const underWay = countUnderWay();

  function follow(fetch: DataFetch): void {
    underWay.begin();
    clock.schedule(fetch.endsAt, () => {
      onEnd(fetch);
      kept.delete(fetch.requestId);
      underWay.end();
    });
  }

  for (const fetch of kept.values()) follow(fetch);
  return {
    start: (fetch: DataFetch): void => {
      kept.set(fetch.requestId, fetch);
      follow(fetch);
    },
    /** Resolves when no fetch is running. */
    ended: underWay.none,
  };
}

export function countUnderWay() {
  const waiters: (() => void)[] = [];
  let count = 0;
  return {
    begin: (): void => {
      count += 1;
    },
    end: (): void => {
      count -= 1;
      if (count === 0) for (const resolve of waiters.splice(0)) resolve();
    },
    /** Resolves when none is running. */
    none: async () => {
      if (count > 0) await new Promise<void>((resolve) => waiters.push(resolve));
    },
  };
}
