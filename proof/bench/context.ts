/** Size of a measurement, which determines its duration. Events are distinct. */
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

/** Settings that all measurements of a run share. */
export type Context = {
  readonly effort: Effort;
  /** Date and machine to record the price counts with; undefined: not recorded. */
  readonly recordedAs: string | undefined;
  readonly onProgress: (step: string) => void;
};
