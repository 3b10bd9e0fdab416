import { randomBytes, randomUUID } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  type Content,
  contentOf,
  contentReader,
  contentStore,
  type ReadContent,
  type StoreContent,
} from "../../../adapters/dynamodb/document-store.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import {
  describeOnEachTable,
  startTestSystem,
  type TestBucket,
  type TestSystem,
  type TestTable,
} from "../../support/engines.ts";

await describeOnEachTable("the content store", (tables) => {
  let system: TestSystem;
  let table: TestTable;
  let bucket: TestBucket;
  let store: StoreContent;
  let read: ReadContent;
  let subject: Subject;

  beforeAll(async () => {
    system = await startTestSystem(tables);
    [table, bucket] = await Promise.all([system.createTable(), system.createBucket()]);
    const overflow = overflowBucket(bucket.name);
    store = contentStore(system.dynamodb, table.name, overflow);
    read = contentReader(system.dynamodb, table.name, overflow);
  });
  afterAll(() => system.close());
  beforeEach(() => {
    subject = { kind: "account", id: randomUUID() };
  });

  const textOf = ({ parts }: Content) => Buffer.concat(parts).toString();
  const stored = () => table.item(`ACCOUNT#${subject.id}`, "CONTENT#income");

  test("keeps small data in the table, byte for byte", async () => {
    const content = contentOf('{"amount": 12345678901234567890.10, "s": "ü\\u0000"}');
    await store(subject, { endpoint: "income" }, 3, content);
    expect(await stored()).toEqual({
      pk: `ACCOUNT#${subject.id}`,
      sk: "CONTENT#income",
      schemaVersion: 1,
      done: 3,
      content: textOf(content),
      digest: content.digest,
    });
  });

  test.each([
    ["letters", "x"],
    ["characters of three bytes", "…"],
  ])(
    "keeps up to 380,000 bytes in the table, more in the bucket, compressed, and reads both back: %s",
    async (_, character) => {
      const width = Buffer.byteLength(character);
      const inline = contentOf(character.repeat(Math.floor(380_000 / width)));
      await store(subject, { endpoint: "income" }, 1, inline);
      expect(await stored()).toMatchObject({ content: textOf(inline) });

      const large = contentOf(character.repeat(Math.floor(380_000 / width) + 1));
      await store(subject, { endpoint: "income" }, 2, large);
      const key = `data/account/${subject.id}/income/${large.digest}.json.gz`;
      const item = await stored();
      expect(item).toMatchObject({ object: key, digest: large.digest, done: 2 });
      expect(item).not.toHaveProperty("content");
      expect(gunzipSync(await bucket.bytes(key)).toString()).toBe(textOf(large));
    },
  );

  test.each([
    ["is small", '{"amount": 12345678901234567890.10, "s": "ü"}'],
    ["is nothing", ""],
    ["lies in the bucket", JSON.stringify("ü".repeat(400_000))],
    ["hardly compresses", JSON.stringify(randomBytes(1_500_000).toString("base64"))],
  ])("reads back whole what %s", async (_, text) => {
    const content = contentOf(text);
    await store(subject, { endpoint: "income" }, 1, content);
    const back = await read(subject, { endpoint: "income" });
    expect(back?.digest).toBe(content.digest);
    expect(back && textOf(back)).toBe(text);
  });

  test("takes data in parts, which may split a character, as if it were one", async () => {
    for (const repeat of [1, 400_000]) {
      const text = JSON.stringify("aü".repeat(repeat));
      const bytes = Buffer.from(text);
      const parts = contentOf([bytes.subarray(0, 3), bytes.subarray(3)]);
      expect(parts.digest).toBe(contentOf(text).digest);
      await store(subject, { endpoint: "income" }, repeat, parts);
      const back = await read(subject, { endpoint: "income" });
      expect(back && textOf(back)).toBe(text);
    }
  });

  test("reads nothing where nothing is stored, or the provider has none", async () => {
    expect(await read(subject, { endpoint: "income" })).toBeUndefined();
    await store(subject, { endpoint: "income" }, 1, undefined);
    expect(await read(subject, { endpoint: "income" })).toBeUndefined();
  });

  test("reads data of a range of dates apart from the whole", async () => {
    const range = { start: "2026-01-01", end: "2026-01-31" };
    await store(subject, { endpoint: "income", range }, 1, contentOf("x".repeat(500_000)));
    expect(await read(subject, { endpoint: "income" })).toBeUndefined();
    const back = await read(subject, { endpoint: "income", range });
    expect(back && textOf(back)).toHaveLength(500_000);
  });

  test("refuses to read what is another than was stored", async () => {
    const content = contentOf("x".repeat(500_000));
    await store(subject, { endpoint: "income" }, 1, content);
    const key = `data/account/${subject.id}/income/${content.digest}.json.gz`;
    await overflowBucket(bucket.name).put(key, gzipSync("[]"));
    await expect(read(subject, { endpoint: "income" })).rejects.toThrow("is another than was stored");
  });

  test("notes that the provider has none", async () => {
    await store(subject, { endpoint: "income" }, 1, contentOf("[1]"));
    await store(subject, { endpoint: "income" }, 2, undefined);
    const item = await stored();
    expect(item).toMatchObject({ done: 2 });
    expect(item).not.toHaveProperty("content");
    expect(item).not.toHaveProperty("digest");
  });

  test("a later fetch wins, whichever is written first", async () => {
    await store(subject, { endpoint: "income" }, 2, contentOf("[2]"));
    await store(subject, { endpoint: "income" }, 1, contentOf("[1]"));
    expect(await stored()).toMatchObject({ content: "[2]", done: 2 });
    await store(subject, { endpoint: "income" }, 3, contentOf("[3]"));
    expect(await stored()).toMatchObject({ content: "[3]", done: 3 });
    await Promise.all(
      [5, 4, 9, 6, 8, 7].map((noted) =>
        store(subject, { endpoint: "income" }, noted, contentOf(`[${noted}]`)),
      ),
    );
    expect(await stored()).toMatchObject({ content: "[9]", done: 9 });
  });

  test("a fetch that is made again, as after a crash, is stored with what it then finds", async () => {
    await store(subject, { endpoint: "income" }, 1, contentOf("[1]"));
    await store(subject, { endpoint: "income" }, 1, contentOf("[2]"));
    expect(await stored()).toMatchObject({ content: "[2]", done: 1 });
  });

  test("the table points to nothing that the bucket could not take", async () => {
    const working = system.fail("s3:PutObject");
    await expect(store(subject, { endpoint: "income" }, 1, contentOf("x".repeat(500_000)))).rejects.toThrow(
      "injected by the test",
    );
    working();
    expect(await stored()).toBeUndefined();
  });

  test("a failure of the table is thrown, not taken for a later fetch", async () => {
    const working = system.fail("dynamodb:PutItem");
    await expect(store(subject, { endpoint: "income" }, 1, contentOf("[1]"))).rejects.toThrow(
      "injected by the test",
    );
    working();
  });
});
