/** The memory's knowledge about a message. */
export type Remembered = {
  /** Whether it was handled before. */
  readonly isHandled: boolean;
  /** The highest sequence handled in its series; absent: none. */
  readonly newest?: string | undefined;
};

export type Handled = {
  /** Unique among all messages of all stages. */
  readonly id: string;
  /** The series and sequence, if newer messages of the series replace older ones. */
  readonly place?: { readonly series: string; readonly sequence: string };
};

/**
 * How many days to remember messages. For this long a message can be redelivered, even from an archive: the stage's
 * `retention.archiveDays` (90 by default) plus 57. Remember no longer: after that, an erased user or account may be
 * announced again, with sequences that start over.
 */
export const keptDays = 147;

/**
 * Remembers handled messages, in a store of yours. If a function throws, the message stays on the queue. `remember`
 * must keep the higher sequence if another process was faster. It must store the sequence before the id: if only the
 * id is stored, an older message would pass for the newest.
 */
export type Memory = {
  readonly recall: (id: string, series?: string) => Promise<Remembered>;
  readonly remember: (handled: Handled) => Promise<void>;
};

type Limits = {
  /** Maximum number of ids, and of series. Beyond it the oldest are forgotten. */
  readonly most?: number;
  readonly days?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

/** A memory that is lost when the process ends, for tests and for idempotent handlers. */
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
  // A map iterates over its keys in insertion order.
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
