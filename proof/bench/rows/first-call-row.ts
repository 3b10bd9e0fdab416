import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { httpEvent } from "../drive/invocations.ts";
import { webhookSecret } from "../drive/running-implementation.ts";
import { bundleDirectory } from "../measure/bundles.ts";
import { runFresh } from "../measure/fresh-process.ts";
import { startTlsStandIn } from "../measure/tls-stand-in.ts";
import type { Context } from "../measurement.ts";
import { scratchDirectory } from "../scratch.ts";
import { workload } from "../workload.ts";
import { importEnvironment } from "./import-rows.ts";
import { pairedRow, type Row } from "./row.ts";

const measured = ["ours", "powertools"] as const;

/** What the first webhook waits for in a fresh process: the import, the secret, and the queue, over TLS. */
export async function firstCallRow({ effort, assemblies, estimate, onProgress }: Context): Promise<Row> {
  await using standIn = await startTlsStandIn();
  const eventFile = join(scratchDirectory("event"), "event.json");
  const [delivery] = workload({ seed: 1, events: 10, duplicates: 0 }).filter(
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
  for (let run = 1; run <= effort.imports; run += 1) {
    for (const implementation of measured) {
      const file = join(bundleDirectory(implementation, "receive", assemblies), "index.mjs");
      const { millis: took } = await runFresh({ file, eventFile, environment });
      millis[implementation].push(took);
    }
    onProgress(`first call, ${run} of ${effort.imports}`);
  }
  const theirs = [{ over: "powertools", atMost: 0.7, values: millis.powertools }];
  return pairedRow(
    { name: "first-call", figure: "ms from start to the first answer" },
    millis.ours,
    theirs,
    estimate,
  );
}
