import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withResults } from "./document.ts";
import { plotOf } from "./plot.ts";
import { readResults } from "./results.ts";
import { readShortfalls } from "./shortfalls.ts";

const ownDirectory = join(import.meta.dirname, "..");

/** The page of a directory with its table, of the results that lie there. */
export function documentOf(directory: string): string {
  const own = join(directory, "README.md");
  const page = readFileSync(existsSync(own) ? own : join(ownDirectory, "README.md"), "utf8");
  return withResults(page, resultsOf(directory), readShortfalls());
}

export function drawingOf(directory: string): string {
  return plotOf(resultsOf(directory).rows);
}

/** Writes the page and the plot of a directory again. */
export function writeDocument(directory: string): void {
  writeFileSync(join(directory, "README.md"), documentOf(directory));
  writeFileSync(join(directory, "results", "ratios.svg"), drawingOf(directory));
}

function resultsOf(directory: string) {
  return readResults(join(directory, "results", "reference.json"));
}
