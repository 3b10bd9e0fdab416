import type { Account } from "./audit-events.ts";

export type Tally = Pick<Account, "sent" | "stored" | "deadlettered" | "refused" | "lost" | "duplicated"> & {
  /** Calls that met a fault. */
  readonly faults: number;
  /** Processes killed. */
  readonly kills: number;
  /** Crash points struck, of those that were to be struck. */
  readonly struck: number;
  readonly points: number;
};

/** The last line of a run. */
export function reportLine(tally: Tally): string {
  const { sent, stored, deadlettered, refused, lost, duplicated, faults, kills, struck, points } = tally;
  return (
    `chaos: sent ${sent} stored ${stored} deadlettered ${deadlettered} refused ${refused} lost ${lost} ` +
    `duplicated ${duplicated} faults ${faults} kills ${kills} crashpoints ${struck}/${points}`
  );
}

/** The counts of several runs together. */
export function sumOf(tallies: readonly Tally[]): Tally {
  const sum = (name: keyof Tally) => tallies.reduce((total, tally) => total + tally[name], 0);
  return {
    sent: sum("sent"),
    stored: sum("stored"),
    deadlettered: sum("deadlettered"),
    refused: sum("refused"),
    lost: sum("lost"),
    duplicated: sum("duplicated"),
    faults: sum("faults"),
    kills: sum("kills"),
    struck: sum("struck"),
    points: sum("points"),
  };
}

/** What a run came to, beside its account. */
type Course = {
  /** How often each class of faults fired, by its name; those that never did included. */
  readonly fired: readonly (readonly [string, number])[];
  /** Names of crash points that were to be struck and were not. */
  readonly left: readonly string[];
  /** What functions said that could not be imported. */
  readonly initErrors: readonly string[];
};

/** What makes a run fail, in words; empty where nothing was lost or doubled, the account closes and all was tried. */
export function assessRun(
  { lostEvents, duplicates, unaccounted }: Account,
  { fired, left, initErrors }: Course,
): readonly string[] {
  return [
    ...[...lostEvents].map(([id, why]) => `lost: ${id}: ${why}`),
    ...duplicates.map((words) => `duplicated: ${words}`),
    ...unaccounted.map((words) => `the account does not close: ${words}`),
    ...fired.filter(([, count]) => count === 0).map(([name]) => `the fault "${name}" never fired`),
    ...left.map((point) => `the crash point "${point}" was not struck`),
    ...initErrors,
  ];
}
