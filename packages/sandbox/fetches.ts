import type { Clock } from "./clock.ts";
import { type EndpointName, isEndpointName } from "./endpoint-names.ts";
import { fieldsOf, listOf, textOf, timestampOf } from "./parse.ts";
import type { Store } from "./store.ts";

export type DataFetch = {
  readonly requestId: string;
  readonly accountId: string;
  readonly endpoints: readonly EndpointName[];
  readonly endsAt: Date;
};

export type Fetches = {
  start(fetch: DataFetch): void;
  /** Resolves when no fetch is running. */
  ended(): Promise<void>;
};

/** Ends fetches on the clock. A fetch that a restart interrupted ends after it. */
export function createFetches(clock: Clock, store: Store, onEnd: (fetch: DataFetch) => void): Fetches {
  const kept = store.collection("fetches", parseFetch);
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
    start: (fetch) => {
      kept.set(fetch.requestId, fetch);
      follow(fetch);
    },
    ended: underWay.none,
  };
}

function parseFetch(value: unknown): DataFetch {
  const fields = fieldsOf(value);
  return {
    requestId: textOf(fields, "requestId"),
    accountId: textOf(fields, "accountId"),
    endpoints: listOf(fields, "endpoints").map(String).filter(isEndpointName),
    endsAt: timestampOf(fields, "endsAt"),
  };
}

type UnderWay = {
  begin(): void;
  end(): void;
  /** Resolves when none is running. */
  none(): Promise<void>;
};

export function countUnderWay(): UnderWay {
  const waiters: (() => void)[] = [];
  let count = 0;
  return {
    begin: () => {
      count += 1;
    },
    end: () => {
      count -= 1;
      if (count === 0) for (const resolve of waiters.splice(0)) resolve();
    },
    none: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
  };
}
