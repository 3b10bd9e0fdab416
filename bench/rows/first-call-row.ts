import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { httpEvent } from "../drive/invocations.ts";
import { webhookSecret } from "../drive/running-side.ts";
import { writeBundles } from "../measure/bundles.ts";
import { runFresh } from "../measure/fresh-process.ts";
import { startTlsStandIn } from "../measure/tls-stand-in.ts";
import { workload } from "../workload.ts";
import { type ImportOptions, importEnvironment } from "./import-rows.ts";
import { pairedRow, type Row } from "./row.ts";

const measured = ["ours", "powertools"] as const;

/** What the first webhook waits for in a fresh process: the import, the secret, and the queue, over TLS. */
export async function firstCallRow({ runs, node, estimate, onProgress }: ImportOptions): Promise<Row> {
  await using standIn = await startTlsStandIn();
  using bundles = writeBundles(measured);
  const directory = await mkdtemp(join(tmpdir(), "bench-event-"));
  const eventFile = join(directory, "event.json");
  const [delivery] = workload({ seed: 1, events: 2, duplicates: 0 }).filter(
    ({ kind }) => kind === "accounts",
  );
  await writeFile(eventFile, JSON.stringify(httpEvent("accounts", delivery?.body ?? "", webhookSecret)));
  const environment = {
    ...importEnvironment,
    AWS_ENDPOINT_URL: standIn.url,
    // A trap: the client of SQS goes where the queue's address says.
    QUEUE_URL: `${standIn.url}/000000000000/queue`,
    NODE_EXTRA_CA_CERTS: standIn.certificateFile,
  };
  const millis: Record<(typeof measured)[number], number[]> = { ours: [], powertools: [] };
  for (let run = 0; run < runs; run += 1) {
    for (const side of measured) {
      const file = bundles.fileOf(side, "receive");
      millis[side].push((await runFresh({ node, file, eventFile, environment })).millis);
    }
    onProgress(`first call, ${run + 1} of ${runs}`);
  }
  await rm(directory, { recursive: true });
  const theirs = [{ over: "powertools", atMost: 0.7, values: millis.powertools }];
  return pairedRow("first-call", "ms from start to the first answer", millis.ours, theirs, estimate);
}
