import { createHash, randomBytes, randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { marshall } from "@aws-sdk/util-dynamodb";
import { signedFetch } from "@income-events/local-stack/api/signed-fetch.ts";
import type { StartOptions } from "@income-events/local-stack/options.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { registerSubscribers } from "@income-events/local-stack/stack/subscriber-callers.ts";
import { type LocalStack, startStack } from "@income-events/local-stack/stack.ts";
import { median } from "simple-statistics";
import { sizeOf } from "../../adapters/aws/compressed.ts";
import { contentOf, documentStore } from "../../adapters/dynamodb/documents.ts";
import { documentKey } from "../../adapters/dynamodb/keys.ts";
import { sharedReads } from "../../adapters/dynamodb/shared-reads.ts";
import { sharedWrites } from "../../adapters/dynamodb/shared-writes.ts";
import { overflowBucket } from "../../adapters/s3/overflow-bucket.ts";

import { documentAfter } from "../../domain/fetch/document.ts";
import { documentTask } from "../../domain/fetch/task.ts";
import { hrefOfDocument } from "../../domain/message/document-reference.ts";
import { synthesizeProduct } from "../../scripts/product-assembly.ts";

/** What reads of a small document took, by count, and how long beside a bare GetItem of the same item. */
export type SmallReads = {
  readonly reads: number;
  readonly invocations: number;
  /** Calls of AWS by the function. */
  readonly requests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Medians, in milliseconds. */
  readonly readMillis: number;
  readonly getItemMillis: number;
};

/** What one read of a large document took. */
export type LargeRead = {
  readonly bytes: number;
  /** Whether all of it came, and nothing else. */
  readonly isWhole: boolean;
  /** Of the function's process, in all its life. */
  readonly maxResidentBytes: number;
  readonly memoryMb: number;
};

/** The synthesized stack, with nobody who sends webhooks: what is read is stored as fetches store it. */
export type ReadStack = AsyncDisposable & {
  readonly measureSmall: (reads: number) => Promise<SmallReads>;
  readonly measureLarge: (bytes: number, coding: Coding) => Promise<LargeRead>;
};

const income = { endpoint: "income" };
/** Nobody calls it: what is read is stored here as fetches store it. */
const nobody = "http://127.0.0.1:9";

type Place = {
  readonly stack: LocalStack;
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
  readonly reading: LocalStack["functions"][number];
};

/** @param engine of the table; undefined: the best that this machine has */
export async function startReadStack(engine: StartOptions["engine"]): Promise<ReadStack> {
  await using cleanup = new AsyncDisposableStack();
  const product = cleanup.use(await synthesizeProduct());
  const stack = cleanup.adopt(
    await startStack({
      assembly: product.directory,
      parameters: { ProviderBaseUrl: nobody },
      maximumProcesses: 1,
      countsCapacity: true,
      ...(engine && { engine }),
    }),
    ({ close }) => close(),
  );
  const access = { endpoint: stack.gatewayUrl, region: stack.region, credentials: stack.operator };
  const dynamodb = cleanup.adopt(new DynamoDBClient(access), (client) => client.destroy());
  const s3 = cleanup.adopt(new S3Client({ ...access, forcePathStyle: true }), (client) => client.destroy());
  const reading = stack.functions.find(({ logicalId }) => logicalId.startsWith("ReadDocuments"));
  const credentials = registerSubscribers(stack).find(({ name }) => name === "everything")?.credentials;
  if (reading === undefined || credentials === undefined)
    throw new Error("The stage has no function that reads, or no subscriber everything");
  const place: Place = { stack, dynamodb, s3, reading };
  const read: Read = async (url, coding) => {
    const headers = { "accept-encoding": coding };
    const answer = await signedFetch(url, { region: stack.region, credentials, headers });
    if (answer.status !== 200) throw new Error(`The read was answered ${answer.status}`);
    return answer;
  };
  const moved = cleanup.move();
  return {
    measureSmall: (reads) => measureSmall(place, read, reads),
    measureLarge: (bytes, coding) => measureLarge(place, read, bytes, coding),
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

type Coding = "identity" | "gzip";
type Read = (url: URL, coding: Coding) => Promise<Response>;

async function measureSmall(place: Place, read: Read, reads: number): Promise<SmallReads> {
  const { stack, dynamodb, reading } = place;
  const { url, key } = await store(place, [Buffer.from(smallDocument())]);
  const get = { TableName: outputOf(stack, "TableName"), Key: marshall(key), ConsistentRead: true };
  const readOnce = async () => void (await (await read(url, "identity")).arrayBuffer());
  const getOnce = async () => void (await dynamodb.send(new GetItemCommand(get)));
  for (let warmUp = 0; warmUp < 20; warmUp += 1) {
    await readOnce();
    await getOnce();
  }
  const before = countsOf(stack, reading);
  const times: { readonly read: number; readonly get: number }[] = [];
  // In turn: what else the machine does then meets both.
  for (let count = 0; count < reads; count += 1)
    times.push({ read: await millisOf(readOnce), get: await millisOf(getOnce) });
  const after = countsOf(stack, reading);
  return {
    reads,
    invocations: after.invocations - before.invocations,
    requests: after.requests - before.requests,
    readUnits: after.readUnits - before.readUnits,
    writeUnits: after.writeUnits - before.writeUnits,
    readMillis: median(times.map((each) => each.read)),
    getItemMillis: median(times.map((each) => each.get)),
  };
}

async function measureLarge(place: Place, read: Read, bytes: number, coding: Coding): Promise<LargeRead> {
  const { url, digest } = await store(place, largeDocument(bytes));
  const hash = createHash("sha256");
  const { body } = await read(url, coding);
  for await (const chunk of body ?? []) hash.update(chunk);
  let held = await place.reading.measureMemory();
  // Its last bytes come a moment before its process is idle.
  for (; held.length === 0; held = await place.reading.measureMemory()) await setImmediate();
  return {
    bytes,
    // A client of HTTP expands what it knows itself.
    isWhole: hash.digest("hex") === digest,
    maxResidentBytes: Math.max(...held.map(({ maxResidentBytes }) => maxResidentBytes)),
    memoryMb: place.reading.memoryMb,
  };
}

/** Stores a document as fetches do. @returns its address, as messages have it, and its key */
async function store({ stack, dynamodb, s3 }: Place, parts: readonly Uint8Array[]) {
  const table = outputOf(stack, "TableName");
  const subject = { kind: "account", id: randomUUID() } as const;
  const content = contentOf(parts);
  const now = Date.now();
  const call = { asOf: now, by: [], task: documentTask(subject, income, now, { cause: "read" }) };
  const document = documentAfter(undefined, call, { digest: content.digest, size: sizeOf(parts) });
  const overflow = overflowBucket(outputOf(stack, "OverflowBucketName"), s3);
  const documents = documentStore(
    sharedReads(dynamodb, table),
    sharedWrites(dynamodb, table, async () => undefined),
    overflow,
  );
  await documents.save(undefined, document, content);
  const href = hrefOfDocument(subject, income, outputOf(stack, "DocumentsUrl"));
  return { url: new URL(href), key: documentKey(subject, income), digest: content.digest };
}

/** What the function has used so far. */
function countsOf({ gateway }: LocalStack, { name, counts }: LocalStack["functions"][number]) {
  const own = <T>(values: ReadonlyMap<string, T>) =>
    [...values].flatMap(([key, value]) => (key.startsWith(`${name} `) ? [value] : []));
  const units = own(gateway.capacity());
  return {
    invocations: counts().invocations,
    requests: own(gateway.calls()).reduce((sum, count) => sum + count, 0),
    readUnits: units.reduce((sum, { readUnits }) => sum + readUnits, 0),
    writeUnits: units.reduce((sum, { writeUnits }) => sum + writeUnits, 0),
  };
}

async function millisOf(work: () => Promise<void>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** Of about 4 KB, as an answer with some weeks of income is. */
function smallDocument(): string {
  const weeks = Array.from({ length: 20 }, (_, week) => ({
    id: randomUUID(),
    date_start: `2026-01-${String(week + 1).padStart(2, "0")}`,
    currency: "EUR",
    gross: 812.5 + week,
    net: 640.25 + week,
  }));
  return JSON.stringify({ endpoint: "income", data: weeks, next: null });
}

/** A list of rows. A trap: the local stand-in for S3 takes objects of 11 MiB, so it compresses well. */
function largeDocument(bytes: number): readonly Uint8Array[] {
  const rows = Array.from({ length: 8_192 }, () => {
    return { id: randomBytes(1).toString("hex"), currency: "EUR", gross: 812.5, fees: 81.25, net: 731.25 };
  });
  const part = Buffer.from(rows.map((row) => `${JSON.stringify(row)},\n`).join(""));
  const count = Math.floor((bytes - 4) / part.byteLength);
  return [Buffer.from("["), ...Array.from({ length: count }, () => part), Buffer.from("null]")];
}

/** What is over what a read may take. */
export function shortfallsOf(taken: SmallReads | LargeRead): readonly string[] {
  const checks: readonly (readonly [holds: boolean, otherwise: string])[] =
    "reads" in taken
      ? [
          [taken.invocations === taken.reads, "a read takes more than one invocation"],
          [taken.requests === taken.reads, "a read takes more than one request"],
          [taken.readUnits <= 2 * taken.reads, "a read takes more than two read units"],
          [taken.writeUnits === 0, "a read writes"],
        ]
      : [
          [taken.isWhole, "a large document does not come whole"],
          [
            taken.maxResidentBytes <= taken.memoryMb * 2 ** 20,
            "a large document takes more memory than there is",
          ],
        ];
  return checks.flatMap(([holds, otherwise]) => (holds ? [] : [otherwise]));
}
