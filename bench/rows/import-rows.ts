import { type Imported, writeBundles } from "../measure/bundles.ts";
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
const environment = {
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

/** What a function takes to start: fresh processes that import a bundle, in turns, less what an empty bundle takes. */
export async function importRows(options: ImportOptions): Promise<readonly Row[]> {
  using bundles = writeBundles(imported, parts);
  const rows: Row[] = [];
  for (const part of parts) {
    const found: Record<(typeof imported)[number], FreshRun[]> = {
      ours: [],
      powertools: [],
      clients: [],
      empty: [],
    };
    for (let run = 0; run < options.runs; run += 1) {
      for (const name of imported) {
        const { file } = bundles.of(name, part);
        found[name].push(await runFresh({ node: options.node, file, environment }));
      }
      options.onProgress(`import of ${part}, ${run + 1} of ${options.runs}`);
    }
    const millis = (name: (typeof imported)[number]) =>
      found[name].map((each, run) => each.millis - (found.empty[run]?.millis ?? 0));
    const against = [
      { over: "powertools", atMost: 0.6, values: millis("powertools") },
      { over: "clients", atMost: 1, values: millis("clients") },
    ];
    const name = `import-${part}${options.suffix}`;
    rows.push(pairedRow(name, "ms to import in a fresh process", millis("ours"), against, options.estimate));
  }
  return rows;
}

/** The size of all files of the functions that are measured, compressed as a deployment sends them. */
export function bundleRow(estimate: ImportOptions["estimate"]): Row {
  const all = ["receive", "store", "relay", "fetch"] as const;
  using bundles = writeBundles(["ours", "powertools"], all);
  const kilobytes = (name: "ours" | "powertools") => [
    all.reduce((sum, part) => sum + bundles.of(name, part).gzipBytes, 0) / 1024,
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
