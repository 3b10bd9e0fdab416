import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const ofParts = z.object({ receive: z.number(), store: z.number(), relay: z.number(), fetch: z.number() });

/**
 * What one implementation used for one load, as totals: requests as the gateway saw them, times inside the functions.
 */
const used = z.object({
  invocations: ofParts,
  /** How often a function began to wait for AWS: calls that it waits for at the same time are one. */
  waits: ofParts,
  /** Likewise for the provider. */
  providerWaits: z.number(),
  cpuMicros: ofParts,
  /**
   * Sent by functions, and received and deleted for them in batches; empty receives are counted with the idle stack.
   */
  sqsRequests: z.number(),
  /** Those of them to FIFO queues. */
  fifoRequests: z.number(),
  tableRequests: z.number(),
  writeUnits: z.number(),
  readUnits: z.number(),
  objectPuts: z.number(),
  objectGets: z.number(),
  providerCalls: z.number(),
  /** Written by the functions' code. */
  logBytes: z.number(),
  /** Left in the tables: by items that expire, and by those that stay. */
  expiringBytes: z.number(),
  stayingBytes: z.number(),
});
export type Used = z.output<typeof used>;

const load = z.object({
  /** Distinct ones. */
  events: z.number(),
  deliveries: z.number(),
  seed: z.number(),
  duplicates: z.number(),
  /** How the functions get them: in full batches, or each through all of them before the next comes. */
  arrival: z.enum(["batches", "alone"]),
  /** Of each document that the provider answers with. */
  dataBytes: z.number(),
  sides: z.object({ ours: used, powertools: used, plain: used, floor: used }),
});
export type CountedLoad = z.output<typeof load>;

/** One run of what a schedule invokes, on a stack in which nothing is to be done. */
const tick = z.object({
  /** Its logical id without the hash. */
  function: z.string(),
  cpuMicros: z.number(),
  memoryMb: z.number(),
  sqsRequests: z.number(),
  tableRequests: z.number(),
  secretCalls: z.number(),
  objectPuts: z.number(),
  objectGets: z.number(),
  logBytes: z.number(),
});
export type Tick = z.output<typeof tick>;

const schema = z.object({
  date: z.iso.date(),
  machine: z.string(),
  /** What the functions are given; time is billed by it. */
  memoryMb: ofParts,
  /** By name: `usual` is the one that documents speak of. */
  loads: z.object({ usual: load, unrepeated: load, repeated: load, alone: load, large: load, huge: load }),
  ticks: z.array(tick),
});
export type Counts = z.output<typeof schema>;
export type LoadName = keyof Counts["loads"];

export const countsFile = join(import.meta.dirname, "counts.json");

/** @throws where the file is not what `npm run proof -- cost` writes */
export function readCounts(): Counts {
  return schema.parse(JSON.parse(readFileSync(countsFile, "utf8")));
}
