import type { RefusalNote } from "../provider/refusal-note.ts";

/** What one process knows of refused tokens, so that a burst of refusals costs one write and asks once. */
export type TokenRefusals = {
  /** Whether the refresher found that this version is of no use: calls with it are spared. */
  readonly isEnded: (versionId: string) => boolean;
  /** Reports that a version was refused, also when the secret had been read again. */
  readonly report: (versionId: string) => Promise<void>;
};

/** For so long a process spares calls with a version of no use; then it sees for itself. */
const endedForInSeconds = 60;
/** So soon it asks again whether a version that it has reported is of no use: the refresher takes a few seconds. */
const knownForInSeconds = 5;

/**
 * @param askRefresh wakes the refresher, which reads the note; without it, or should it fail, its next scheduled run
 * does
 */
export function tokenRefusals(
  { note }: Pick<RefusalNote, "note">,
  askRefresh: (() => Promise<void>) | undefined,
  now: () => Date,
): TokenRefusals {
  let known: { readonly versionId: string; readonly since: number; readonly isEnded: boolean } | undefined;
  let reporting: Promise<void> = Promise.resolve();
  const isKnown = (versionId: string): boolean => {
    if (known?.versionId !== versionId) return false;
    const seconds = known.isEnded ? endedForInSeconds : knownForInSeconds;
    return now().getTime() - known.since < seconds * 1000;
  };

  const report = async (versionId: string) => {
    if (isKnown(versionId)) return;
    const answer = await note(versionId, askRefresh !== undefined);
    known = { versionId, since: now().getTime(), isEnded: answer === "ended" };
    if (answer === "noted") await askRefresh?.().catch(() => undefined);
  };
  return {
    isEnded: (versionId) => isKnown(versionId) && known?.isEnded === true,
    report: (versionId) => {
      // One after the other: those who come with the first find what it has learned.
      const turn = reporting.then(() => report(versionId));
      reporting = turn.catch(() => undefined);
      return turn;
    },
  };
}
