import { parseSettings } from "../../lib/settings/settings.ts";
import { productionSettings } from "../lib/synthesized.ts";
import type { TestSystem } from "../support/engines.ts";
import type { ReleaseSamples } from "./sample-files.ts";
import { envelopeSamples, erasureSamples, messageSamples, taskSamples } from "./write-messages.ts";
import { itemSamples, objectSamples, secretSamples } from "./write-stores.ts";

/** What this release writes, in every form that another one may read. */
export async function writtenToday(system: TestSystem): Promise<ReleaseSamples> {
  const [table, bucket] = await Promise.all([system.createTable(), system.createBucket()]);
  const items = await itemSamples(system, table, bucket);
  return {
    envelopes: envelopeSamples(),
    tasks: taskSamples(),
    erasures: erasureSamples(),
    messages: messageSamples(),
    items,
    objects: await objectSamples(system, bucket),
    secrets: await secretSamples(system),
    settings: { production: parseSettings(productionSettings, "the sample") },
  };
}
