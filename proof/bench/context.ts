/** Settings that all measurements of a run share. */
export type Context = {
  /** Fewer rounds, without what needs a long run. */
  readonly isQuick: boolean;
  /** Date and machine to record the price counts with; undefined: not recorded. */
  readonly recordedAs: string | undefined;
  readonly onProgress: (step: string) => void;
};
