import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "@income-events/local-stack/gateway/types.ts";
import type { Interference, ObservedCall } from "./observed-call.ts";
import type { ChaosSystem } from "./system.ts";

type Journal = {
  /** Wraps the interference and records a line for every call. */
  readonly writing: (interfere: Interference) => Interference;
  /** Calls whose bodies contain the name, in order. */
  journeyOf(name: string): readonly string[];
};

/** Characters of a body that are kept: an event's id comes before its large body. */
const keptCharacters = 4_000;

type Entry = {
  readonly at: string;
  readonly call: ObservedCall;
  readonly phase: string;
  readonly outcome: Outcome;
  readonly text: string;
};

/** Records calls, to trace an event that was lost. */
export function keepJournal(): Journal {
  const entries: Entry[] = [];
  return {
    writing: (interfere) => async (call, phase) => {
      const outcome = await interfere(call, phase);
      const text = call.body.toString("utf8", 0, keptCharacters);
      if (phase === "before" || outcome !== undefined) {
        entries.push({ at: new Date().toISOString(), call: { ...call, body: empty }, phase, outcome, text });
      }
      return outcome;
    },
    journeyOf: (name) => entries.filter(({ text }) => text.includes(name)).map(lineOf),
  };
}

const empty = Buffer.alloc(0);

function lineOf({ at, call, phase, outcome }: Entry): string {
  const caller = call.isFromFunction ? call.function : `${call.function} (Lambda in its name)`;
  return [at, caller, call.name, ...(outcome === undefined ? [] : [phase, JSON.stringify(outcome)])].join(
    "  ",
  );
}

const maxJourneys = 20;

/** Writes a trace of each lost event into a folder: the calls that carried it, and the functions' logs. */
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
