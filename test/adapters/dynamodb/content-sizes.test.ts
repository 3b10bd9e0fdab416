import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { contentSizes } from "../../../adapters/dynamodb/content-sizes.ts";
import { contentOf, contentStore } from "../../../adapters/dynamodb/document-store.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import {
  describeOnEachTable,
  startTestSystem,
  type TestBucket,
  type TestSystem,
  type TestTable,
} from "../../support/engines.ts";

await describeOnEachTable("the sizes of stored data", (tables) => {
  let system: TestSystem;
  let table: TestTable;
  let bucket: TestBucket;
  beforeAll(async () => {
    system = await startTestSystem(tables);
    [table, bucket] = await Promise.all([system.createTable(), system.createBucket()]);
  });
  afterAll(() => system.close());

  it("are reported in bytes, compressed for what lies in the bucket", async () => {
    const subject: Subject = { kind: "account", id: randomUUID() };
    const overflow = overflowBucket(bucket.name, system.s3);
    const store = contentStore(system.dynamodb, table.name, overflow);
    const range = { start: "2026-01-01", end: "2026-01-31" };
    await store(subject, { endpoint: "profile" }, 1, contentOf('"ü"'));
    await store(subject, { endpoint: "income", range }, 1, contentOf("[]"));
    await store(subject, { endpoint: "income" }, 1, contentOf(`"${randomBytes(300_000).toString("hex")}"`));
    await store(subject, { endpoint: "trips" }, 1, undefined);

    const sizes = await contentSizes(system.dynamodb, table.name, overflow, subject);

    expect(sizes({ endpoint: "profile" })).toEqual({ bytes: 4, compressed: false });
    expect(sizes({ endpoint: "income", range })).toEqual({ bytes: 2, compressed: false });
    const [key = ""] = await bucket.keys();
    expect(sizes({ endpoint: "income" })).toEqual({
      bytes: (await bucket.bytes(key)).byteLength,
      compressed: true,
    });
    expect(sizes({ endpoint: "trips" })).toBeUndefined();
    expect(sizes({ endpoint: "wallet" })).toBeUndefined();
  });
});
