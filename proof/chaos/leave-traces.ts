import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Journal } from "./journal.ts";
import type { ChaosSystem } from "./system.ts";

const maxJourneys = 20;

/** Writes the journey of each lost event into a folder: the calls that carried it, and what the functions logged. */
export function leaveTraces(
  directory: string,
  lost: readonly string[],
  journal: Journal,
  { functions }: Pick<ChaosSystem, "functions">,
): void {
  const folder = join(directory, "journeys");
  mkdirSync(folder, { recursive: true });
  for (const id of lost.slice(0, maxJourneys)) {
    const logged = [...functions].flatMap(([name, { log }]) =>
      log().flatMap((line) => (line.includes(id) ? [`${name}: ${line}`] : [])),
    );
    const lines = ["Calls:", ...journal.journeyOf(id), "", "Logs:", ...logged];
    writeFileSync(join(folder, `${id}.txt`), `${lines.join("\n")}\n`);
  }
}
