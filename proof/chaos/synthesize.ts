import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { synthesize } from "@income-events/local-stack/synthesis/synthesize.ts";
import { z } from "zod";

export const stage = "compressed";
const file = join(import.meta.dirname, "../../stages", `${stage}.json`);
const stageFile = z.looseObject({
  divideDurationsBy: z.number(),
  provider: z.looseObject({ paths: z.looseObject({}) }),
});
type StageFile = z.output<typeof stageFile>;
const known = stageFile.parse(JSON.parse(readFileSync(file, "utf8")));

/** A minute of the stage in real milliseconds. */
export const minuteInMillis = 60_000 / known.divideDurationsBy;

/** Deduplication window of FIFO queues on this stage. */
export const deduplicationSeconds = 300 / known.divideDurationsBy;

/** The setting `readiness`. */
export const awaitedEndpoints = ["profile"];
const deadlineHours = 1;
export const deadlineMillis = 60 * deadlineHours * minuteInMillis;

/**
 * Differences from the stage's file: the work of a killed function is retried after its visibility timeout,
 * six times the function's time-out.
 * @param slowness slowdown of this machine relative to an idle one
 */
function changes({ provider }: StageFile, slowness: number): object {
  const seconds = Math.ceil(slowness);
  const lasting = (seconds: number) => ({ timeoutSeconds: Math.ceil(seconds * slowness) });
  return {
    provider: {
      ...provider,
      // Reconciliation finds accounts by this list.
      paths: { ...provider.paths, userAccounts: "/api/v0.4/users/{user_id}/accounts" },
      timeouts: { connectSeconds: seconds, headersSeconds: seconds, bodySeconds: seconds },
    },
    subscribers: [{ name: "everything" }, { name: "accounts", types: ["account.*"] }],
    // An hour takes 12.5 seconds here.
    readiness: { endpoints: awaitedEndpoints, deadlineHours },
    mapping: { users: { attributes: { loanId: "metadata.loan_id" } } },
    // Runs begin while functions are killed, and end before the next one: else the system is never idle.
    reconcile: { everyHours: Math.ceil(2 * slowness) },
    functions: {
      receive: { timeoutSeconds: Math.min(29, Math.ceil(10 * slowness)) },
      store: lasting(2),
      relay: lasting(6),
      fetch: lasting(4),
      refresh: lasting(10),
      register: lasting(10),
      archive: lasting(4),
      erase: lasting(3),
      // With less time than its longest call, over a minute, a tick compares one user only. The default, five
      // minutes, is how long the end of a run would wait for a tick whose call hangs.
      reconcile: { timeoutSeconds: 60 + Math.ceil(15 * slowness) },
    },
  };
}

/** Synthesizes the stage into a directory; returns the assembly's path. */
export async function synthesizeStage(directory: string, slowness: number): Promise<string> {
  const settings = join(directory, "settings.json");
  writeFileSync(settings, JSON.stringify({ ...known, ...changes(known, slowness) }));
  return synthesize(stage, join(directory, "assembly"), settings);
}
