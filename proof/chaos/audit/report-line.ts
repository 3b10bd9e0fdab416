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
