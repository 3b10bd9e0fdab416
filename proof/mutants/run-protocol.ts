import { copyProject } from "./copy.ts";
import type { ProtocolMutant } from "./protocol-mutant.ts";
import { runTests } from "./run-tests.ts";

export type ProtocolResult = { readonly caught: number; readonly missed: readonly string[] };

/**
 * Makes each mutant in a copy of the project, and runs the tests that are to notice it.
 * @throws where these fail without any mutant: then they say nothing
 */
export async function runProtocolMutants(
  root: string,
  mutants: readonly ProtocolMutant[],
  report: (step: string) => void,
  signal?: AbortSignal,
): Promise<ProtocolResult> {
  using copy = copyProject(root);
  const files = [...new Set(mutants.flatMap(({ tests }) => tests))];
  const unchanged = await runTests(copy.directory, files, signal);
  if (unchanged.is !== "passed") {
    const what = unchanged.is === "failed" ? unchanged.test : files.join(" ");
    throw new Error(`without any mutant, this does not pass: ${what}`);
  }
  const missed: string[] = [];
  for (const { name, file, code, instead, tests } of mutants) {
    const putBack = copy.change(file, code, instead);
    const result = await runTests(copy.directory, tests, signal);
    putBack();
    if (result.is === "failed") report(`caught: ${name} (${result.test})`);
    else {
      missed.push(name);
      report(`MISSED: ${name}${result.is === "not run" ? " (its tests could not be run)" : ""}`);
    }
  }
  return { caught: mutants.length - missed.length, missed };
}
