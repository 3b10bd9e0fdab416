import type { Account } from "./audit-events.ts";

/** What a run came to, beside its account. */
export type Course = {
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
