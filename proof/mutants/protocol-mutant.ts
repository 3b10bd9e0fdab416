/** A step of the protocol done wrong, on purpose: a change of our own code that some test must notice. */
export type ProtocolMutant = {
  readonly name: string;
  /** The promise of docs/evidence/promises.md that it breaks, by what stands in bold there. */
  readonly breaks: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly code: string;
  readonly instead: string;
  /** The test files that are to notice. */
  readonly tests: readonly string[];
};
