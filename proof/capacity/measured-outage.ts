import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { loadSettings } from "../../lib/settings/settings.ts";
import { scenarioOf } from "./scenario.ts";
import { summarize } from "./summarize.ts";

const root = join(import.meta.dirname, "../..");

const outage = z.object({
  tasks: z.number(),
  callsDuringOutage: z.number(),
  maxCallsPerMinute: z.number(),
  catchUpSeconds: z.number(),
});
export type Outage = z.output<typeof outage>;

/** What docs/operate/outages.md says was measured first: a day's outage on the stage `compressed`. */
export function measuredOutage(): Outage {
  const [, text = ""] =
    /```json\n(\{.*?\})\n```/s.exec(readFileSync(join(root, "docs/operate/outages.md"), "utf8")) ?? [];
  return outage.parse(JSON.parse(text));
}

const hours = 24;
/** The scenario announces its data at about this rate, on a machine with two cores. */
const announcedPerSecond = 100;
/** A batch on this machine, where all services are. */
const batchSeconds = 0.1;

/** The same as the model has it: the stage's settings, its day of five minutes, and as many tasks at the beginning. */
export function simulatedOutage({ tasks }: Pick<Outage, "tasks">): Outage {
  const settings = loadSettings("compressed", join(root, "stages"));
  const disturbance = { from: 0, to: (hours * 3_600) / settings.divideDurationsBy };
  const scenario = scenarioOf(
    settings,
    { storeBatch: batchSeconds, fetchBatch: batchSeconds, waitingBatch: batchSeconds, relay: 1 },
    { concurrency: settings.fetch.maxConcurrency, shareOfBusiestRoute: 1 },
    {
      deliveriesPerSecond: (seconds) => (seconds < tasks / announcedPerSecond ? announcedPerSecond : 0),
      tasksPerDelivery: 1,
      isProviderDown: (seconds) => seconds < disturbance.to,
      seconds: 2 * disturbance.to,
    },
  );
  const { summary } = summarize(scenario, disturbance);
  return {
    tasks: summary.tasks,
    callsDuringOutage: summary.callsWhileDown,
    maxCallsPerMinute: summary.mostCallsPerMinute,
    catchUpSeconds: (summary.fetchedAfter ?? Number.POSITIVE_INFINITY) - disturbance.to,
  };
}
