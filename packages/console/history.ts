import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "@income-events/cli/core/command-error.ts";
import {
  type HistoryFilter,
  type HistoryProgress,
  type HistoryRow,
  selectHistory,
} from "@income-events/cli/events/event-history.ts";

/** Reads events. The callback receives the progress; if it throws, the read ends. */
export type ReadHistory = (onProgress: (progress: HistoryProgress) => void) => Promise<readonly HistoryRow[]>;

export type HistoryPage = ReturnType<typeof pageOf>;

export type Histories = ReturnType<typeof createHistories>;

const pageSize = 500;
const keptReadings = 8;
/** A page polls each second; after this long without a poll it has gone. */
const millisecondsToAbandon = 30_000;
/** Maximum time to wait for a complete answer. */
const millisecondsToWait = 800;

type Reading = {
  readonly work: Promise<unknown>;
  askedAt: number;
  progress: HistoryProgress;
  rows?: readonly HistoryRow[];
};

/** The histories that pages read, including unfinished ones. */
export function createHistories(now: () => Date) {
  const readings = new Map<string, Reading>();
  const isAbandoned = ({ askedAt }: Reading) => now().getTime() - askedAt > millisecondsToAbandon;
  return {
    /** Starts to read. @returns the reading's id */
    begin: (read: ReadHistory): string => {
      const id = randomUUID();
      const none = { lines: 0, done: 0, total: 0 };
      const work = read((progress) => {
        reading.progress = progress;
        if (isAbandoned(reading)) throw CommandError.failed("The page that started this reading was closed.");
      }).then((rows) => {
        reading.rows = rows;
      });
      const reading: Reading = { work, askedAt: now().getTime(), progress: none };
      // The error is reported to whoever requests the entries.
      work.catch(() => undefined);
      readings.set(id, reading);
      const [oldest] = readings.keys();
      if (readings.size > keptReadings && oldest !== undefined) readings.delete(oldest);
      return id;
    },
    /** @throws CommandError if the reading is unknown by now, or the error that ended it */
    page: async (id: string, filter: HistoryFilter, offset: number) => {
      const reading = readings.get(id);
      if (reading === undefined)
        throw new CommandError("nobody", "This history has expired. Refresh the page.");
      reading.askedAt = now().getTime();
      await Promise.race([reading.work, sleep(millisecondsToWait, undefined, { ref: false })]);
      return pageOf(id, reading, filter, offset);
    },
  };
}

/** The progress of a read, and once it is complete one page of the matches. */
function pageOf(id: string, { rows, progress }: Reading, filter: HistoryFilter, offset: number) {
  const all = rows ?? [];
  const selected = selectHistory(all, filter);
  return {
    ...{ reading: id, isComplete: rows !== undefined, progress, total: all.length, count: selected.length },
    ...{ offset, events: selected.slice(offset, offset + pageSize) },
    types: namesOf(all.map(({ type }) => type)),
    outcomes: namesOf(all.map(({ outcome }) => outcome)),
    endpoints: namesOf(all.map(({ endpoint }) => endpoint)),
  };
}

function namesOf(texts: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(texts)].flatMap((text) => text ?? []).toSorted();
}
