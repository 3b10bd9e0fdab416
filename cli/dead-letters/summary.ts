import type { LetterPlace } from "../../domain/recovery/dead-letter.ts";
import { reasonOf } from "./selection.ts";

export type Summary = {
  /** So many letters were looked at; of a queue with more the figures are of these. */
  readonly read: number;
  readonly oldest?: Date;
  /** The most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
};

/** Looks at the letters of a place, at about `most` of them, and leaves them there. */
export async function summarize(place: LetterPlace, most: number): Promise<Summary> {
  const counts = new Map<string, number>();
  let read = 0;
  let oldest: Date | undefined;
  await place(async (letters) => {
    for (const letter of letters) {
      const reason = reasonOf(letter);
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
      if (oldest === undefined || letter.sentAt < oldest) oldest = letter.sentAt;
    }
    read += letters.length;
    return { done: [], isEnough: read >= most };
  });
  const reasons = [...counts].map(([reason, count]) => ({ reason, count }));
  return { read, ...(oldest && { oldest }), reasons: reasons.toSorted((a, b) => b.count - a.count) };
}
