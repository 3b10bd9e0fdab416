const counted = [
  ...(["sent", "stored", "deadlettered", "refused", "lost", "duplicated"] as const),
  ...(["faults", "kills"] as const),
];

/** Events by fate, calls that met a fault, kills, and crash points that were hit (`struck`) of those chosen. */
export type Tally = Readonly<Record<(typeof counted)[number] | "struck" | "points", number>>;

/** Last line of the output, with the sums of all runs. */
export function reportLine(...tallies: readonly Tally[]): string {
  const sum = (name: keyof Tally) => tallies.reduce((total, tally) => total + tally[name], 0);
  const counts = counted.map((name) => `${name} ${sum(name)}`).join(" ");
  return `chaos: ${counts} crashpoints ${sum("struck")}/${sum("points")}`;
}
