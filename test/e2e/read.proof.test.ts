import { createHash, randomBytes, randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { registerSubscribers } from "@income-events/local-stack/stack/subscriber-callers.ts";
import { type LocalStack, startStack } from "@income-events/local-stack/stack.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sizeOf } from "../../adapters/aws/content.ts";
import { batchingReader, batchingWriter } from "../../adapters/dynamodb/batching.ts";
import { contentOf, documentStore } from "../../adapters/dynamodb/documents.ts";
import { overflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import { documentAfter } from "../../domain/fetch/document.ts";
import { documentTask } from "../../domain/fetch/task.ts";
import { hrefOfDocument } from "../../domain/message/document-reference.ts";
import { synthesizeProduct } from "../../proof/support/product-assembly.ts";
import { signedFetch } from "../../proof/support/signed-fetch.ts";
import { fastEngine } from "../support/engines.ts";

const income = { endpoint: "income" };

describe("a read of a document", () => {
  const cleanup = new AsyncDisposableStack();
  let stack: LocalStack;
  let dynamodb: DynamoDBClient;
  let s3: S3Client;
  beforeAll(async () => {
    const product = cleanup.use(await synthesizeProduct());
    const options = {
      assembly: product.directory,
      // Nobody calls the provider: documents are stored here as fetches store them.
      parameters: { ProviderBaseUrl: "http://127.0.0.1:9" },
      ...{ maximumProcesses: 1, countsCapacity: true, engine: await fastEngine() },
    };
    stack = cleanup.adopt(await startStack(options), ({ close }) => close());
    const access = { endpoint: stack.gatewayUrl, region: stack.region, credentials: stack.operator };
    dynamodb = cleanup.adopt(new DynamoDBClient(access), (client) => client.destroy());
    s3 = cleanup.adopt(new S3Client({ ...access, forcePathStyle: true }), (client) => client.destroy());
  });
  afterAll(() => cleanup.disposeAsync());

  /**
   * Stores a document as a fetch does.
   * @returns its URL as in messages, and its digest
   */
  async function store(parts: readonly Uint8Array[]) {
    const table = outputOf(stack, "TableName");
    const subject = { kind: "account", id: randomUUID() } as const;
    const content = contentOf(parts);
    const now = Date.now();
    const call = { asOf: now, by: [], task: documentTask(subject, income, now, { cause: "read" }) };
    const document = documentAfter(undefined, call, { digest: content.digest, size: sizeOf(parts) });
    const documents = documentStore(
      batchingReader(dynamodb, table),
      batchingWriter(dynamodb, table, async () => undefined),
      overflowBucket(outputOf(stack, "OverflowBucketName"), s3),
    );
    await documents.save(undefined, document, content);
    const url = new URL(hrefOfDocument(subject, income, outputOf(stack, "DocumentsUrl")));
    return { url, digest: content.digest };
  }

  async function read(url: URL, coding: string): Promise<Response> {
    const credentials = registerSubscribers(stack).find(({ name }) => name === "everything")?.credentials;
    if (credentials === undefined) throw new Error("the stage has no subscriber everything");
    const headers = { "accept-encoding": coding };
    const answer = await signedFetch(url, { region: stack.region, credentials, headers });
    expect(answer.status).toBe(200);
    return answer;
  }

  function reading() {
    const found = stack.functions.find(({ logicalId }) => logicalId.startsWith("ReadDocuments"));
    if (found === undefined) throw new Error("the stage has no function that reads");
    return found;
  }

  /** Resources that the function has used so far. */
  function used() {
    const { name, counts } = reading();
    const own = <T>(values: ReadonlyMap<string, T>) =>
      [...values].flatMap(([key, value]) => (key.startsWith(`${name} `) ? [value] : []));
    const units = own(stack.gateway.capacity());
    return {
      invocations: counts().invocations,
      requests: own(stack.gateway.calls()).reduce((sum, count) => sum + count, 0),
      readUnits: units.reduce((sum, { readUnits }) => sum + readUnits, 0),
      writeUnits: units.reduce((sum, { writeUnits }) => sum + writeUnits, 0),
    };
  }

  it("takes one invocation, one request, two read units at most and no write for 4 KB", async () => {
    const { url } = await store([Buffer.from(JSON.stringify({ data: "x".repeat(4_000) }))]);
    await (await read(url, "identity")).arrayBuffer();
    const before = used();
    for (let count = 0; count < 20; count += 1) await (await read(url, "identity")).arrayBuffer();
    const after = used();
    expect(after.invocations - before.invocations).toBe(20);
    expect(after.requests - before.requests).toBe(20);
    expect(after.readUnits - before.readUnits).toBeGreaterThanOrEqual(20);
    expect(after.readUnits - before.readUnits).toBeLessThanOrEqual(40);
    expect(after.writeUnits).toBe(before.writeUnits);
  });

  it.each(["identity", "gzip"])(
    "streams 200 MB whole within the function's 512 MB, as %s",
    async (coding) => {
      const { url, digest } = await store(rows(200_000_000));
      const hash = createHash("sha256");
      // HTTP clients decompress the codings that they know.
      for await (const chunk of (await read(url, coding)).body ?? []) hash.update(chunk);
      expect(hash.digest("hex")).toBe(digest);
      let held = await reading().measureMemory();
      // The last bytes arrive shortly before the process is idle.
      for (; held.length === 0; held = await reading().measureMemory()) await setImmediate();
      expect(reading().memoryMb).toBe(512);
      for (const { maxResidentBytes } of held) expect(maxResidentBytes).toBeLessThanOrEqual(512 * 2 ** 20);
    },
  );
});

/** A list of rows. A trap: the local S3 accepts objects up to 11 MiB, so it must compress well. */
function rows(bytes: number): readonly Uint8Array[] {
  const part = Buffer.from(
    Array.from({ length: 8_192 }, () => {
      const row = { id: randomBytes(1).toString("hex"), currency: "EUR", gross: 812.5, net: 731.25 };
      return `${JSON.stringify(row)},\n`;
    }).join(""),
  );
  const count = Math.floor((bytes - 4) / part.byteLength);
  return [Buffer.from("["), ...Array.from({ length: count }, () => part), Buffer.from("null]")];
}
