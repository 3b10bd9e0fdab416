import { type Bundles, type Imported, writeBundles } from "../measure/bundles.ts";
import { type FreshRun, runFresh } from "../measure/fresh-process.ts";
import type { Estimate } from "../measure/statistics.ts";
import { titles } from "../sides.ts";
import { pairedRow, type Row } from "./row.ts";

export type ImportOptions = {
  readonly runs: number;
  readonly node: string;
  /** Told beside the rows' names, where it is not the version that the functions run on. */
  readonly suffix: string;
  readonly estimate: (values: readonly number[]) => Estimate;
  readonly onProgress: (step: string) => void;
};

const imported = ["ours", "powertools", "clients", "empty"] as const satisfies readonly Imported[];
const parts = ["receive", "store"] as const;

/** What the modules read of the environment when they are imported. */
export const importEnvironment = {
  AWS_REGION: "eu-central-1",
  AWS_ACCESS_KEY_ID: "bench",
  AWS_SECRET_ACCESS_KEY: "bench",
  QUEUE_URL: "https://sqs.eu-central-1.amazonaws.com/000000000000/queue",
  DEAD_LETTER_QUEUE_URL: "https://sqs.eu-central-1.amazonaws.com/000000000000/letters",
  OVERFLOW_BUCKET: "overflow",
  WEBHOOK_SECRET_ARN: "arn:aws:secretsmanager:eu-central-1:000000000000:secret:webhook",
  TABLE_NAME: "table",
  IDEMPOTENCY_TABLE: "idempotency",
  WEBHOOK_KIND: "accounts",
};

/**
 * What a function takes to start: fresh processes that import a bundle, in turns, less what an empty bundle takes; and the
 * memory that each holds then.
 */
export async function importRows(options: ImportOptions): Promise<readonly Row[]> {
  using bundles = writeBundles(imported);
  const rows: Row[] = [];
  for (const part of parts) {
    const found = await runInTurns(bundles, part, options);
    rows.push(...rowsOf(part, found, options));
  }
  return rows;
}

type Found = Readonly<Record<(typeof imported)[number], readonly FreshRun[]>>;

async function runInTurns(
  bundles: Bundles,
  part: (typeof parts)[number],
  { runs, node, onProgress }: ImportOptions,
): Promise<Found> {
  const found: Record<keyof Found, FreshRun[]> = { ours: [], powertools: [], clients: [], empty: [] };
  const files = imported.map((name) => [name, bundles.fileOf(name, part)] as const);
  for (let run = 1; run <= runs; run += 1) {
    for (const [name, file] of files) {
      found[name].push(await runFresh({ node, file, environment: importEnvironment }));
    }
    onProgress(`import of ${part}, ${run} of ${runs}`);
  }
  return found;
}

function rowsOf(part: (typeof parts)[number], found: Found, options: ImportOptions): readonly Row[] {
  const { estimate, suffix } = options;
  const millis = (name: keyof Found) =>
    found[name].map((each, run) => each.millis - (found.empty[run]?.millis ?? 0));
  const megabytes = (name: keyof Found) => found[name].map(({ residentBytes }) => residentBytes / 2 ** 20);
  const imports = [
    { over: "powertools", atMost: 0.6, values: millis("powertools") },
    { over: "clients", atMost: 1, values: millis("clients") },
  ];
  const memory = [{ over: "powertools", atMost: 0.7, values: megabytes("powertools") }];
  const [importName, memoryName] = [`import-${part}${suffix}`, `memory-rest-${part}${suffix}`];
  return [
    pairedRow(importName, "ms to import in a fresh process", millis("ours"), imports, estimate),
    pairedRow(memoryName, "MB that a process holds at rest", megabytes("ours"), memory, estimate),
  ];
}

/** The size of all files of the functions that are measured, compressed as a deployment sends them. */
export function bundleRow(estimate: ImportOptions["estimate"]): Row {
  const all = ["receive", "store", "relay", "fetch"] as const;
  using bundles = writeBundles(["ours", "powertools"]);
  const kilobytes = (name: "ours" | "powertools") => [
    all.reduce((sum, part) => sum + bundles.gzipBytesOf(name, part), 0) / 1024,
  ];
  const theirs = [{ over: "powertools", atMost: 0.5, values: kilobytes("powertools") }];
  return pairedRow(
    "bundle",
    `KB gzip of four functions, beside ${titles.powertools}`,
    kilobytes("ours"),
    theirs,
    estimate,
  );
}
