import { tableTests } from "./protocol-tests.ts";

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

/** What a mutant says of itself where its file is known. */
type Mutant = Omit<ProtocolMutant, "file" | "tests">;

/** Mutants of one file, which the model of the table's protocol must notice by itself. */
export function mutantsOf(file: string, mutants: readonly Mutant[]): readonly ProtocolMutant[] {
  return mutants.map((mutant) => ({ ...mutant, file, tests: tableTests }));
}
