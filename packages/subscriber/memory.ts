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
 * So many days a message can come again, after months in an archive too, where the stage keeps dead letters for the 90
 * days of the default: `retention.archiveDays` and 57 more. Who was erased may be announced again after that, with
 * sequences from the beginning: so remember for no longer.
 */
export const keptDays = 147;

/**
 * What a subscriber remembers, on a store of its own. Whatever it throws, the message stays on the queue.
 * Remembering must keep the higher sequence where another process was faster, and the sequence before the id:
 * an id that is known with a sequence that is lost would let an older message pass for the newest.
 */
export type Memory = {
  readonly recall: (id: string, series?: string) => Promise<Remembered>;
  readonly remember: (handled: Handled) => Promise<void>;
};

type Limits = {
  /** Ids, and as many series; beyond them the oldest are forgotten. */
  readonly most?: number;
  readonly days?: number;
  /** In milliseconds. */
  readonly now?: () => number;
};

/** A memory that ends with the process, for tests and for what a repetition does not hurt. */
export function inMemory({ most = 100_000, days = keptDays, now = Date.now }: Limits = {}): Memory {
  const ids = new Map<string, Kept>();
  const sequences = new Map<string, Kept>();
  const find = (kept: Kept | undefined) =>
    kept !== undefined && kept.until > now() ? kept.value : undefined;
  const keep = (map: Map<string, Kept>, key: string, value: string) => {
    map.delete(key);
    map.set(key, { value, until: now() + days * 86_400_000 });
    dropOldest(map, most);
  };
  return {
    recall: async (id, series) => ({
      isHandled: find(ids.get(id)) !== undefined,
      newest: series === undefined ? undefined : find(sequences.get(series)),
    }),
    remember: async ({ id, place }) => {
      if (place !== undefined && place.sequence > (find(sequences.get(place.series)) ?? "")) {
        keep(sequences, place.series, place.sequence);
      }
      keep(ids, id, id);
    },
  };
}

type Kept = { readonly value: string; readonly until: number };

function dropOldest(map: Map<string, Kept>, most: number): void {
  // A map reports its keys in the order in which they came.
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
