import type { Command } from "commander";
import { runningSystemsDirectory } from "../core/running-systems.ts";
import { candidates } from "./candidates.ts";
import { knownValues } from "./known-values.ts";

/** Candidates for a shell: a line each, with its description after a tab. What goes wrong is no business of a Tab's. */
export function completionLines(program: Command, words: readonly string[]): string {
  try {
    return candidates(program, words, knownValues(runningSystemsDirectory))
      .map(({ value, description }) => `${value}\t${description}\n`)
      .join("");
  } catch {
    return "";
  }
}
