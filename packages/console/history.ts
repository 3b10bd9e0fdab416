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

export type Histories = ReturnType<typeof createHistories>;

export type HistoryPage = Awaited<ReturnType<Histories["page"]>>;

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

/** The histories that pages read, including unfinished ones, by the ids that the pages gave them. */
export function createHistories(now: () => Date) {
  const readings = new Map<string, Reading>();
  const begin = (id: string, read: ReadHistory): Reading => {
    const none = { lines: 0, done: 0, total: 0 };
    const work = read((progress) => {
      reading.progress = progress;
      if (now().getTime() - reading.askedAt > millisecondsToAbandon)
        throw CommandError.failed("The page that started this reading was closed.");
    }).then((rows) => {
      reading.rows = rows;
    });
    const reading: Reading = { work, askedAt: now().getTime(), progress: none };
    // The error is reported to whoever requests the entries.
    work.catch(() => undefined);
    readings.set(id, reading);
    const [oldest] = readings.keys();
    if (readings.size > keptReadings && oldest !== undefined) readings.delete(oldest);
    return reading;
  };
  return {
    /** The progress of a reading, which its first request begins, and once it is complete one page of the matches. */
    page: async (id: string, read: ReadHistory, filter: HistoryFilter, offset: number) => {
      const reading = readings.get(id) ?? begin(id, read);
      reading.askedAt = now().getTime();
      await Promise.race([reading.work, sleep(millisecondsToWait, undefined, { ref: false })]);
      const { rows: all = [], progress } = reading;
      const selected = selectHistory(all, filter);
      return {
        ...{ isComplete: reading.rows !== undefined, progress, total: all.length, count: selected.length },
        events: selected.slice(offset, offset + pageSize),
        types: namesOf(all.map(({ type }) => type)),
        outcomes: namesOf(all.map(({ outcome }) => outcome)),
        endpoints: namesOf(all.map(({ endpoint }) => endpoint)),
      };
    },
  };
}

function namesOf(texts: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(texts)].flatMap((text) => text ?? []).toSorted();
}
