import type { DeadLetterPlace } from "../../../domain/recovery/dead-letter.ts";
import { reasonOf } from "./selection.ts";

export type Summary = {
  /** So many dead letters were looked at; of a queue with more the figures are of these. */
  readonly read: number;
  readonly oldest?: Date;
  /** The most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
};

/** Looks at the dead letters of a place, at about `most` of them, and leaves them there. */
export async function summarize(place: DeadLetterPlace, most: number): Promise<Summary> {
  const counts = new Map<string, number>();
  let read = 0;
  let oldest: Date | undefined;
  await place(async (deadLetters) => {
    for (const deadLetter of deadLetters) {
      const reason = reasonOf(deadLetter);
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
      if (oldest === undefined || deadLetter.sentAt < oldest) oldest = deadLetter.sentAt;
    }
    read += deadLetters.length;
    return { done: [], isEnough: read >= most };
  });
  const reasons = [...counts].map(([reason, count]) => ({ reason, count }));
  return { read, ...(oldest && { oldest }), reasons: reasons.toSorted((a, b) => b.count - a.count) };
}
