/** How much is measured, and so how long it takes. Events are distinct ones. */
export type Effort = {
  readonly isQuick: boolean;
  /** Fresh processes for each bundle. */
  readonly imports: number;
  readonly spending: { readonly events: number; readonly rounds: number };
  readonly flow: { readonly events: number; readonly rounds: number };
  readonly providerCalls: { readonly events: number };
  readonly growth: { readonly loads: readonly number[] };
};

export const full: Effort = {
  isQuick: false,
  imports: 41,
  spending: { events: 140, rounds: 21 },
  flow: { events: 1_000, rounds: 7 },
  providerCalls: { events: 1_000 },
  growth: { loads: [1_000, 10_000, 100_000] },
};
export const quick: Effort = { ...full, isQuick: true, imports: 3, spending: { events: 100, rounds: 3 } };

/** What all measurements of a run share. */
export type Context = {
  readonly effort: Effort;
  /** Where the counts of the prices are recorded, with the date and the machine; undefined: nowhere. */
  readonly recordedAs: string | undefined;
  readonly onProgress: (step: string) => void;
};
