/** What is remembered of a message that comes. */
export type Remembered = {
  /** Whether it was handled before. */
  readonly isHandled: boolean;
  /** The highest sequence that was handled of its series; absent: none. */
  readonly newest?: string | undefined;
};

/** A message that was handled. */
export type Handled = {
  /** Unique among all messages of all stages. */
  readonly id: string;
  /** Where the newest counts: its series, and its place in it. */
  readonly place?: { readonly series: string; readonly sequence: string };
};

/**
 * What a subscriber remembers, on a store of its own. Whatever it throws, the message stays on the queue.
 * Remembering must keep the higher sequence where another process was faster, and the sequence before the id:
 * an id that is known with a sequence that is lost would let an older message pass for the newest.
 */
export type Memory = {
  readonly recall: (id: string, series?: string) => Promise<Remembered>;
  readonly remember: (handled: Handled) => Promise<void>;
};

/**
 * A memory that ends with the process, for tests and for what a repetition does not hurt.
 * @param most ids, and as many series, that are kept; then the oldest are forgotten
 */
export function inMemory(most = 100_000): Memory {
  const ids = new Map<string, true>();
  const sequences = new Map<string, string>();
  return {
    recall: async (id, series) => ({
      isHandled: ids.has(id),
      newest: series === undefined ? undefined : sequences.get(series),
    }),
    remember: async ({ id, place }) => {
      if (place !== undefined && place.sequence > (sequences.get(place.series) ?? "")) {
        put(sequences, place.series, place.sequence, most);
      }
      put(ids, id, true, most);
    },
  };
}

function put<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  // A map tells its keys in the order in which they came.
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
