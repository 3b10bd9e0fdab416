/**
 * Runs in a process of its own: imports a bundle and calls its handler often, one call after the other.
 * `node run-bundle.ts <file> <file of an event> <calls>` prints what the import, the first call and a warm call took.
 */

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , file = "", eventFile = "", calls = ""] = process.argv;
const event: unknown = JSON.parse(readFileSync(eventFile, "utf8"));
const context = { getRemainingTimeInMillis: () => 10_000, functionName: "bench", awsRequestId: "bench" };

/** Processor time in ms, of all threads: on a machine with other work it says more than the time that passes. */
async function spent(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

let handler: (event: unknown, context: object) => Promise<unknown>;
const call = async (times: number) => {
  for (let time = 0; time < times; time += 1) {
    const answer = Object(await handler(event, context));
    const isWell = Number(answer.statusCode ?? 200) < 300 && (answer.batchItemFailures ?? []).length === 0;
    if (!isWell) throw new Error(`a call was answered ${JSON.stringify(answer)}`);
  }
};

const imported = await spent(async () => {
  ({ handler } = await import(pathToFileURL(file).href));
});
const atRest = process.memoryUsage.rss() / 2 ** 20;
const first = await spent(() => call(1));
await call(Number(calls));
const warm = (await spent(() => call(Number(calls)))) / Number(calls);
process.stderr.write(`${JSON.stringify({ imported, first: imported + first, warm, atRest })}\n`);
// Connections that are kept would hold the process.
process.exit();
