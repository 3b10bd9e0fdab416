import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Interference } from "./observed-call.ts";
import type { ChaosSystem } from "./system.ts";

/** Characters of a body that are kept: an event's id comes before its large body. */
const keptCharacters = 4_000;
const maxTraces = 20;

/** Records calls, to trace an event that was lost. */
export class Journal {
  readonly #entries: { readonly line: string; readonly text: string }[] = [];

  /** Wraps the interference and records every call. */
  recording(interfere: Interference): Interference {
    return async (call, phase) => {
      const outcome = await interfere(call, phase);
      if (phase === "before" || outcome !== undefined) {
        const caller = call.isFromFunction ? call.function : `${call.function} (Lambda in its name)`;
        const parts = outcome === undefined ? [] : [phase, JSON.stringify(outcome)];
        const line = [new Date().toISOString(), caller, call.name, ...parts].join("  ");
        this.#entries.push({ line, text: call.body.toString("utf8", 0, keptCharacters) });
      }
      return outcome;
    };
  }

  /** Writes a trace of each lost event into a folder: the calls that carried it, and the functions' logs. */
  writeTraces(
    directory: string,
    lost: Iterable<string>,
    { functions }: Pick<ChaosSystem, "functions">,
  ): void {
    const folder = join(directory, "journeys");
    mkdirSync(folder, { recursive: true });
    for (const id of [...lost].slice(0, maxTraces)) {
      const calls = this.#entries.filter(({ text }) => text.includes(id)).map(({ line }) => line);
      const logged = [...functions].flatMap(([name, { log }]) =>
        log().flatMap((line) => (line.includes(id) ? [`${name}: ${line}`] : [])),
      );
      const lines = ["Calls:", ...calls, "", "Logs:", ...logged];
      writeFileSync(join(folder, `${id}.txt`), `${lines.join("\n")}\n`);
    }
  }
}
