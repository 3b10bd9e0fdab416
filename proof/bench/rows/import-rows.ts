import { join } from "node:path";
import { bundleDirectory, type Imported } from "../measure/bundles.ts";
import { type FreshRun, runFresh } from "../measure/fresh-process.ts";
import type { Context } from "../measurement.ts";
import { pairedRow, type Row } from "./row.ts";

const imported = ["ours", "powertools", "clients", "empty"] as const satisfies readonly Imported[];
type Name = (typeof imported)[number];
const importedParts = ["receive", "store"] as const;
type ImportedPart = (typeof importedParts)[number];

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
export async function importRows(context: Context): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const part of importedParts) {
    const directoryOf = (name: Name) => bundleDirectory(name, part, context.assemblies);
    const files = imported.map((name) => [name, join(directoryOf(name), "index.mjs")] as const);
    rows.push(...rowsOf(part, await runInTurns(files, part, context), context));
  }
  return rows;
}

type Found = Readonly<Record<Name, readonly FreshRun[]>>;

async function runInTurns(
  files: readonly (readonly [Name, string])[],
  part: ImportedPart,
  { effort, onProgress }: Context,
): Promise<Found> {
  const found: Record<Name, FreshRun[]> = { ours: [], powertools: [], clients: [], empty: [] };
  for (let run = 1; run <= effort.imports; run += 1) {
    for (const [name, file] of files) {
      found[name].push(await runFresh({ file, environment: importEnvironment }));
    }
    onProgress(`import of ${part}, ${run} of ${effort.imports}`);
  }
  return found;
}

function rowsOf(part: ImportedPart, found: Found, { estimate }: Context): readonly Row[] {
  const millis = (name: Name) =>
    found[name].map((each, run) => each.millis - (found.empty[run]?.millis ?? 0));
  const megabytes = (name: Name) => found[name].map(({ residentBytes }) => residentBytes / 2 ** 20);
  const imports = [
    { over: "powertools", atMost: 0.6, values: millis("powertools") },
    { over: "clients", atMost: 1.1, values: millis("clients") },
  ];
  const memory = [{ over: "powertools", atMost: 0.87, values: megabytes("powertools") }];
  return [
    pairedRow({ name: `import-${part}`, figure: "ms to import" }, millis("ours"), imports, estimate),
    pairedRow(
      { name: `memory-rest-${part}`, figure: "MB of a process at rest" },
      megabytes("ours"),
      memory,
      estimate,
    ),
  ];
}
