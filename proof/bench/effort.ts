/** How much is measured, and with that how long it takes. Events are distinct ones; rounds are those that count. */
export type Effort = {
  readonly isQuick: boolean;
  /** Fresh processes for each bundle. */
  readonly imports: number;
  /** Rounds go on from the first number to the second while the interval of a processor time is wider than it may be. */
  readonly spending: { readonly events: number; readonly rounds: number; readonly maxRounds: number };
  readonly faults: { readonly events: number };
  readonly flow: { readonly events: number; readonly rounds: number };
  readonly providerCalls: { readonly events: number };
  readonly growth: { readonly loads: readonly number[] };
};

const full: Effort = {
  isQuick: false,
  imports: 41,
  spending: { events: 140, rounds: 11, maxRounds: 31 },
  faults: { events: 100 },
  flow: { events: 1_000, rounds: 7 },
  providerCalls: { events: 1_000 },
  growth: { loads: [1_000, 10_000, 100_000] },
};

/** Only the rows that fit have rounds that are used. */
export const quick: Effort = {
  ...scaled(0.02),
  isQuick: true,
  imports: 3,
  spending: { events: 100, rounds: 2, maxRounds: 6 },
};

/** @param share of what a full run measures, above 0 and at most 1 */
export function scaled(share: number): Effort {
  const rounds = (count: number) => Math.max(2, Math.round(count * share));
  // Whole lives of users, of ten events each.
  const events = (count: number) => Math.max(20, Math.round((count * share) / 10) * 10);
  return {
    isQuick: false,
    imports: rounds(full.imports),
    spending: {
      events: events(full.spending.events),
      rounds: rounds(full.spending.rounds),
      maxRounds: rounds(full.spending.maxRounds),
    },
    faults: { events: Math.max(40, events(full.faults.events)) },
    flow: { events: events(full.flow.events), rounds: rounds(full.flow.rounds) },
    providerCalls: { events: events(full.providerCalls.events) },
    growth: { loads: full.growth.loads.map(events) },
  };
}
