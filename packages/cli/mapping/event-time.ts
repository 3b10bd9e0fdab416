import { parseTimestamp, parseUnixTime } from "../../../domain/core/timestamps.ts";
import type { Candidate, Column } from "./candidates.ts";
import { textOfSource } from "./cover.ts";

/**
 * Why a time is not taken for the event's own: a record's time stays the same over the events of one subject, and a
 * name such as `created_at` may mean either. Undefined where it may be taken.
 */
export function doubtOfTime(
  { column, confidence }: Candidate,
  subject: readonly Column[],
): string | undefined {
  const several = [...timestampsBySubject(column, subject).values()].filter(
    (timestamps) => timestamps.length > 1,
  );
  const where = textOfSource(column.source);
  if (several.length > 0 && several.every((timestamps) => new Set(timestamps).size === 1)) {
    return `${where} was not taken for the event's time: it is the same in all events of a subject, as a record's is.`;
  }
  if (confidence !== "low" || several.length > 0) return undefined;
  return `${where} may be the event's time or the record's, and was not taken: add samples of one subject to decide.`;
}

function timestampsBySubject(
  column: Column,
  subject: readonly Column[],
): ReadonlyMap<unknown, readonly string[]> {
  const timestamps = new Map<unknown, string[]>();
  for (const [sample, value] of column.values) {
    const whose = subject.map(({ values }) => values.get(sample)).find((id) => id !== undefined);
    const timestamp = parseUnixTime(value) ?? parseTimestamp(String(value));
    if (whose !== undefined && timestamp !== undefined)
      timestamps.set(whose, [...(timestamps.get(whose) ?? []), timestamp]);
  }
  return timestamps;
}
