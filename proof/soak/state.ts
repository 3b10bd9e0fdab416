import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";

export const parts = ["driven", "flowing"] as const;
export type PartName = (typeof parts)[number];

const part = z.object({
  /** How many batches are through. */
  legs: z.number(),
  events: z.number(),
  lost: z.number(),
  doubled: z.number(),
  /** Messages that were left in a queue after a batch, the most at once. */
  depth: z.number(),
  /** Functions whose memory grew, with the session in which it did. */
  growing: z.array(z.string()),
  sessions: z.number(),
  /** Sessions long enough to say something of memory. */
  assessed: z.number(),
});

const state = z.object({
  /** What was asked for; another plan starts over. */
  plan: z.object({ events: z.number(), endToEnd: z.number() }),
  driven: part,
  flowing: part,
});

export type Plan = z.output<typeof state>["plan"];
export type PartState = z.output<typeof part>;
export type State = z.output<typeof state>;

const nothing: PartState = {
  legs: 0,
  events: 0,
  lost: 0,
  doubled: 0,
  depth: 0,
  growing: [],
  sessions: 0,
  assessed: 0,
};

/** How far a run has come; of another plan, or none yet: from the beginning. */
export function readState(file: string, plan: Plan): State {
  const fresh = { plan, driven: nothing, flowing: nothing };
  if (!existsSync(file)) return fresh;
  const found = state.parse(JSON.parse(readFileSync(file, "utf8")));
  return found.plan.events === plan.events && found.plan.endToEnd === plan.endToEnd ? found : fresh;
}

/** Whole or not at all: a run may be killed at any moment. */
export function writeState(file: string, written: State): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(written, undefined, 2)}\n`);
  renameSync(`${file}.new`, file);
}
