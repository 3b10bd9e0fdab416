import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const quota = z.object({
  name: z.string(),
  value: z.number(),
  /** Of what there can be so much. */
  per: z.string(),
  /** Whether AWS raises it on request. */
  adjustable: z.boolean(),
  source: z.url(),
});

const quotaFile = z.object({
  /** When the quotas were looked up. */
  date: z.iso.date(),
  note: z.string(),
  quotas: z.object({
    apiRequests: quota,
    newAccountConcurrency: quota,
    concurrency: quota,
    invocationsPerConcurrency: quota,
    scalingPerTenSeconds: quota,
    queueSourceBatches: quota,
    tableWrites: quota,
    tableReads: quota,
    newTableWrites: quota,
    partitionWrites: quota,
    partitionReads: quota,
    inFlight: quota,
    secretReads: quota,
  }),
});

/** AWS's quotas, as far as events meet them. @throws where the file misses one */
export function readQuotas() {
  return quotaFile.parse(JSON.parse(readFileSync(join(import.meta.dirname, "quotas.json"), "utf8")));
}
