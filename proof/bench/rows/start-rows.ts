import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "../context.ts";
import { httpEvent } from "../drive/invocations.ts";
import { webhookSecret } from "../drive/running-implementation.ts";
import { parts } from "../implementations.ts";
import { bundleDirectory, gzipBytes } from "../measure/bundles.ts";
import { type FreshRun, runFresh } from "../measure/fresh-process.ts";
import { startTlsStandIn } from "../measure/tls-stand-in.ts";
import { scratchDirectory } from "../scratch.ts";
import { workload } from "../workload.ts";
import { type Row, rowOf } from "./row.ts";

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

const imported = ["ours", "powertools", "clients", "empty"] as const;
type Imported = (typeof imported)[number];

/** Fresh processes that import a bundle: their time, less that of an empty bundle, and their memory. */
export async function importRows({ effort, onProgress }: Context): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const part of ["receive", "store"] as const) {
    const files = imported.map((name) => [name, join(bundleDirectory(name, part), "index.mjs")] as const);
    const found: Record<Imported, FreshRun[]> = { ours: [], powertools: [], clients: [], empty: [] };
    for (let run = 1; run <= effort.imports; run += 1) {
      for (const [name, file] of files) found[name].push(await runFresh({ file, environment }));
      onProgress(`import of ${part}, ${run} of ${effort.imports}`);
    }
    const millis = (name: Imported) =>
      found[name].map((each, run) => each.millis - (found.empty[run]?.millis ?? 0));
    const megabytes = (name: Imported) => found[name].map(({ residentBytes }) => residentBytes / 2 ** 20);
    rows.push(
      rowOf(`import-${part}`, "ms to import", millis("ours"), [
        { over: "powertools", atMost: 0.6, values: millis("powertools") },
        { over: "clients", atMost: 1.1, values: millis("clients") },
      ]),
      rowOf(`memory-rest-${part}`, "MB of a process at rest", megabytes("ours"), [
        { over: "powertools", atMost: 0.87, values: megabytes("powertools") },
      ]),
    );
  }
  return rows;
}

/** How long the first webhook waits in a fresh process: for the import, the secret and the queue, over TLS. */
export async function firstCallRows({ effort, onProgress }: Context): Promise<readonly Row[]> {
  await using standIn = await startTlsStandIn();
  const eventFile = join(scratchDirectory("event"), "event.json");
  const load = workload({ seed: 1, events: 10, duplicates: 0 });
  const delivery = load.find(({ kind }) => kind === "accounts");
  await writeFile(eventFile, JSON.stringify(httpEvent("accounts", delivery?.body ?? "", webhookSecret)));
  const standInEnvironment = {
    ...environment,
    AWS_ENDPOINT_URL: standIn.url,
    // A trap: the client of SQS calls the queue's address.
    QUEUE_URL: `${standIn.url}/000000000000/queue`,
    NODE_EXTRA_CA_CERTS: standIn.certificateFile,
  };
  const millis: Record<"ours" | "powertools", number[]> = { ours: [], powertools: [] };
  for (let run = 1; run <= effort.imports; run += 1) {
    for (const name of ["ours", "powertools"] as const) {
      const file = join(bundleDirectory(name, "receive"), "index.mjs");
      millis[name].push((await runFresh({ file, eventFile, environment: standInEnvironment })).millis);
    }
    onProgress(`first call, ${run} of ${effort.imports}`);
  }
  return [
    rowOf("first-call", "ms from start to the first answer", millis.ours, [
      { over: "powertools", atMost: 0.7, values: millis.powertools },
    ]),
  ];
}

/** The files of the measured functions, minified and compressed as a deployment sends them. */
export function bundleRow(): Row {
  const kilobytes = (name: "ours" | "powertools") =>
    parts.reduce((sum, part) => sum + gzipBytes(bundleDirectory(name, part)), 0) / 1024;
  return rowOf(
    "bundle",
    "KB gzip of four functions",
    [kilobytes("ours")],
    [{ over: "powertools", atMost: 0.97, values: [kilobytes("powertools")] }],
  );
}
