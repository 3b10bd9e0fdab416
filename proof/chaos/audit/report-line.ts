import type { Account } from "./audit-events.ts";

export type Tally = Pick<Account, "sent" | "stored" | "deadlettered" | "refused" | "lost" | "duplicated"> & {
  /** Calls that met a fault. */
  readonly faults: number;
  readonly kills: number;
  /** Crash points that were hit, out of the chosen ones. */
  readonly struck: number;
  readonly points: number;
};

/** Last line of a run's output. */
export function reportLine(tally: Tally): string {
  const { sent, stored, deadlettered, refused, lost, duplicated, faults, kills, struck, points } = tally;
  return (
    `chaos: sent ${sent} stored ${stored} deadlettered ${deadlettered} refused ${refused} lost ${lost} ` +
    `duplicated ${duplicated} faults ${faults} kills ${kills} crashpoints ${struck}/${points}`
  );
}

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

/** Facts about a run beyond its account. */
type Course = {
  /** Number of faults of each class, including zero. */
  readonly fired: readonly (readonly [string, number])[];
  /** Names of chosen crash points that were not hit. */
  readonly left: readonly string[];
  /** Errors of functions that could not be imported. */
  readonly initErrors: readonly string[];
};

/**
 * Reasons why a run fails; empty if nothing was lost or duplicated, the account closes and every fault was
 * tried.
 */
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
