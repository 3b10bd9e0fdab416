import { parseMoment, parseUnixTime } from "../../domain/core/timestamps.ts";
import type { Candidate, Column } from "./candidates.ts";
import { textOfSource } from "./cover.ts";

/**
 * Why a time is not taken for the event's own: a record's time stays the same over the events of one subject, and a name
 * such as `created_at` may mean either. Undefined where it may be taken.
 */
export function doubtOfTime(
  { column, confidence }: Candidate,
  subject: readonly Column[],
): string | undefined {
  const several = [...momentsBySubject(column, subject).values()].filter((moments) => moments.length > 1);
  const where = textOfSource(column.source);
  if (several.length > 0 && several.every((moments) => new Set(moments).size === 1)) {
    return `${where} was not taken for the event's time: it is the same in all events of a subject, as a record's is.`;
  }
  if (confidence !== "low" || several.length > 0) return undefined;
  return `${where} may be the event's time or the record's, and was not taken: add samples of one subject to tell.`;
}

function momentsBySubject(
  column: Column,
  subject: readonly Column[],
): ReadonlyMap<unknown, readonly string[]> {
  const moments = new Map<unknown, string[]>();
  for (const [sample, value] of column.values) {
    const whose = subject.map(({ values }) => values.get(sample)).find((id) => id !== undefined);
    const moment = parseUnixTime(value) ?? parseMoment(String(value));
    if (whose !== undefined && moment !== undefined)
      moments.set(whose, [...(moments.get(whose) ?? []), moment]);
  }
  return moments;
}
