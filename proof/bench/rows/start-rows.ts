import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { closeServer, listen } from "@income-events/local-stack/http-server.ts";
import { stripped } from "@income-events/local-stack/lambda/function-process.ts";
import { z } from "zod";
import { bundle } from "../../../lib/function/bundle.ts";
import { writeFiles } from "../../../lib/function/code-files.ts";
import { assemble } from "../assemble.ts";
import { webhookEvent } from "../drive/drive.ts";
import { webhookSecret } from "../drive/running-implementation.ts";
import { type Part, parts } from "../implementations.ts";
import { scratchDirectory } from "../scratch.ts";
import { workload } from "../workload.ts";
import { type Context, peerRow, type Row } from "./row.ts";

const repository = join(import.meta.dirname, "../../..");
const once = join(import.meta.dirname, "../measure/import-once.ts");
const run = promisify(execFile);
const freshRun = z.object({ millis: z.number(), residentBytes: z.number() });
type FreshRun = z.output<typeof freshRun>;

/** Environment variables that the modules read on import. */
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
  RECONCILE_FUNCTION_NAME: "reconcile",
  WEBHOOK_KIND: "accounts",
};

/** Fresh processes for each bundle. */
const runsOf = (isQuick: boolean) => (isQuick ? 3 : 41);

/** Bundles to import: an implementation, the SDK's clients alone, or nothing. */
const imported = ["ours", "powertools", "clients", "empty"] as const;
type Imported = (typeof imported)[number];
type Contender = "ours" | "powertools";

/** Import time (less that of an empty bundle) and memory of each bundle in fresh processes. */
export async function importRows({ isQuick, onProgress }: Context): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const runs = runsOf(isQuick);
  for (const part of ["receive", "store"] as const) {
    const files: (readonly [Imported, string])[] = [];
    for (const name of imported) files.push([name, join(await bundleDirectory(name, part), "index.mjs")]);
    const found: Record<Imported, FreshRun[]> = { ours: [], powertools: [], clients: [], empty: [] };
    for (let run = 1; run <= runs; run += 1) {
      for (const [name, file] of files) found[name].push(await runFresh(file, environment));
      onProgress(`import of ${part}, ${run} of ${runs}`);
    }
    const millis = (name: Imported) =>
      found[name].map((each, run) => each.millis - (found.empty[run]?.millis ?? 0));
    const megabytes = (name: Imported) => found[name].map(({ residentBytes }) => residentBytes / 2 ** 20);
    rows.push(
      peerRow(`import-${part}`, "ms to import", millis, [
        { over: "powertools", goal: "≤ 0.6" },
        { over: "clients", goal: "≤ 1.1" },
      ]),
      peerRow(`memory-rest-${part}`, "MB of a process at rest", megabytes, [
        { over: "powertools", goal: "≤ 0.87" },
      ]),
    );
  }
  return rows;
}

/** Latency of the first webhook in a fresh process: import, secret and queue, over TLS. */
export async function firstCallRows({ isQuick, onProgress }: Context): Promise<readonly Row[]> {
  await using standIn = await startTlsStandIn();
  const eventFile = join(scratchDirectory("event"), "event.json");
  const load = workload({ seed: 1, events: 10, duplicates: 0 });
  const delivery = load.find(({ kind }) => kind === "accounts");
  await writeFile(eventFile, JSON.stringify(webhookEvent("accounts", delivery?.body ?? "")));
  const standInEnvironment = {
    ...environment,
    AWS_ENDPOINT_URL: standIn.url,
    // A trap: the SQS client calls the queue URL.
    QUEUE_URL: `${standIn.url}/000000000000/queue`,
    NODE_EXTRA_CA_CERTS: standIn.certificateFile,
  };
  const millis: Record<Contender, number[]> = { ours: [], powertools: [] };
  const runs = runsOf(isQuick);
  for (let run = 1; run <= runs; run += 1) {
    for (const name of ["ours", "powertools"] as const) {
      const file = join(await bundleDirectory(name, "receive"), "index.mjs");
      millis[name].push((await runFresh(file, standInEnvironment, eventFile)).millis);
    }
    onProgress(`first call, ${run} of ${runs}`);
  }
  return [
    peerRow("first-call", "ms from start to the first answer", (name: Contender) => millis[name], [
      { over: "powertools", goal: "≤ 0.7" },
    ]),
  ];
}

/** Size of the measured functions, minified and compressed as deployed. */
export async function bundleRow(): Promise<Row> {
  const kilobytes = async (name: Contender) => {
    const directories = await Promise.all(parts.map((part) => bundleDirectory(name, part)));
    return directories.reduce((sum, directory) => sum + gzipBytes(directory), 0) / 1024;
  };
  const sizes = { ours: [await kilobytes("ours")], powertools: [await kilobytes("powertools")] };
  return peerRow("bundle", "KB gzip of four functions", (name: Contender) => sizes[name], [
    { over: "powertools", goal: "≤ 0.95" },
  ]);
}

/** Directory of a function's bundle, with its settings file. */
async function bundleDirectory(name: Imported, part: Part): Promise<string> {
  if (name === "ours" || name === "powertools") return (await assemble(name)).codeOf(part);
  const directory = scratchDirectory(name);
  const entry = name === "clients" ? `clients-${part}` : name;
  const { files } = await bundle(repository, `proof/bench/references/${entry}.ts`);
  writeFiles(directory, files);
  return directory;
}

/** Compressed size of a function's code, in bytes. */
function gzipBytes(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".mjs"))
    .reduce((sum, name) => sum + gzipSync(readFileSync(join(directory, name)), { level: 9 }).byteLength, 0);
}

/**
 * Imports a bundle in a fresh process, and lets it answer its first event if one is given.
 * @throws with the output of the process if it fails
 */
async function runFresh(file: string, env: NodeJS.ProcessEnv, eventFile = ""): Promise<FreshRun> {
  const args = ["--input-type=module", "--eval", stripped(once), file, eventFile];
  const { stderr } = await run(process.execPath, args, { env });
  return freshRun.parse(JSON.parse(stderr.trim().split("\n").at(-1) ?? ""));
}

/**
 * Answers a function's first calls to AWS over TLS, without delay, so that only the caller is measured.
 * @throws if openssl is not installed, which creates the certificate (valid for a day)
 */
async function startTlsStandIn() {
  const directory = scratchDirectory("tls");
  const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  const subject = ["-subj", "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1"];
  const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject];
  await run("openssl", request);
  const server = createServer(
    { key: await readFile(key), cert: await readFile(cert) },
    async (message, response) => {
      const request = await json(message);
      const body = JSON.stringify(answer(String(message.headers["x-amz-target"]), request));
      response.writeHead(200, {
        "content-type": "application/x-amz-json-1.0",
        "content-length": Buffer.byteLength(body),
      });
      response.end(body);
    },
  );
  const port = await listen(server);
  return {
    url: `https://127.0.0.1:${port}`,
    certificateFile: cert,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

const oneMessage = z.object({ MessageBody: z.string() });
const batch = z.object({ Entries: z.array(oneMessage.extend({ Id: z.string() })) });

function answer(target: string, request: unknown): object {
  switch (target.split(".")[1]) {
    case "GetSecretValue":
      return { SecretString: JSON.stringify({ current: webhookSecret }), VersionId: "bench" };
    case "SendMessage":
      return sent(oneMessage.parse(request));
    case "SendMessageBatch":
      return { Successful: batch.parse(request).Entries.map((entry) => ({ Id: entry.Id, ...sent(entry) })) };
    default:
      return {};
  }
}

/** The SDK compares the digest. */
function sent({ MessageBody }: z.output<typeof oneMessage>): object {
  return { MessageId: "bench", MD5OfMessageBody: createHash("md5").update(MessageBody).digest("hex") };
}
