import { randomBytes, randomUUID } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { batchingReader, batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import {
  type Content,
  contentOf,
  contentOfDocument,
  type DocumentStore,
  documentReader,
  documentStore,
  type StoredDocument,
} from "../../../adapters/dynamodb/documents.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { DataName, Document } from "../../../domain/fetch/document.ts";
import { documentRead } from "../../domain/samples.ts";
import { describeOnEachTable, type TestBucket } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";

const income = { endpoint: "income" };
const range = { start: "2026-01-01", end: "2026-01-31" };
/** Almost incompressible text of about three quarters of this length. */
const noise = (bytes: number) => JSON.stringify(randomBytes(Math.ceil((bytes * 3) / 4)).toString("base64"));

await describeOnEachTable("stored documents", (tables) => {
  const made = systemWithTable(tables);
  let bucket: TestBucket;
  let store: DocumentStore;
  let subject: Subject;
  beforeEach(async () => {
    bucket = await made.system.createBucket();
    subject = { kind: "account", id: randomUUID() };
    store = storeOf();
  });

  const storeOf = () =>
    documentStore(
      batchingReader(made.system.dynamodb, made.table.name),
      batchingWriter(made.system.dynamodb, made.table.name, async () => undefined),
      overflowBucket(bucket.name),
    );
  const item = () => made.table.item(`ACCOUNT#${subject.id}`, "DOCUMENT#income");
  const stored = async () => (await item())?.document;
  const textOf = ({ parts }: Content) => Buffer.concat(parts).toString();

  /** The document after a call, given the stored one. */
  function next(
    known: StoredDocument | undefined,
    content: Content | undefined,
    asOf: number,
    name: DataName,
  ) {
    return documentRead(known?.document, content?.digest, { asOf, subject, name, by: [`m${asOf}`] });
  }
  async function save(text: string | undefined, asOf = 1, name: DataName = income): Promise<Document> {
    const known = await store.load(subject, name);
    const content = text === undefined ? undefined : contentOf(text);
    const document = next(known, content, asOf, name);
    expect(await store.save(known, document, content)).toBe("written");
    return document;
  }
  async function textBack(name: DataName = income): Promise<string | undefined> {
    const known = await store.load(subject, name);
    const content = known && (await contentOfDocument(known, overflowBucket(bucket.name)));
    return content && textOf(content);
  }

  describe("that are written", () => {
    test("are one item each, compressed, and read back unchanged", async () => {
      const text = `{"amount": 12345678901234567890.10, "s": "ü\\u0000${"x".repeat(500)}"}`;
      const document = await save(text, 3);
      const whole = await item();
      expect(whole).toEqual({
        pk: `ACCOUNT#${subject.id}`,
        sk: "DOCUMENT#income",
        schemaVersion: 1,
        document: { ...document, codec: "gzip", content: expect.any(Uint8Array) },
      });
      expect(await store.load(subject, income)).toMatchObject({ document });
      expect(await textBack()).toBe(text);
      expect(await made.table.items(`ACCOUNT#${subject.id}`)).toHaveLength(1);
    });

    test("are stored uncompressed if compression would make them longer", async () => {
      await save("[1]");
      expect(await stored()).toMatchObject({
        codec: "identity",
        content: new Uint8Array(Buffer.from("[1]")),
      });
      expect(await textBack()).toBe("[1]");
    });

    test("are stored in the item up to 6,144 compressed bytes, and in the bucket beyond that", async () => {
      for (const [letters, isInline] of [
        [7_900, true],
        [8_300, false],
      ] as const) {
        const text = noise(letters);
        expect(gzipSync(text).byteLength <= 6_144).toBe(isInline);
        const { digest } = await save(text, letters);
        const document = await stored();
        const key = `data/account/${subject.id}/income/${letters}.${digest}.json.gz`;
        expect(document).toMatchObject(isInline ? { content: expect.any(Uint8Array) } : { object: key });
        expect(document).not.toHaveProperty(isInline ? "object" : "content");
        expect(await textBack()).toBe(text);
        if (!isInline) expect(gunzipSync(await bucket.bytes(key)).toString()).toBe(text);
      }
    });

    test("keep their object in the bucket if the content is unchanged", async () => {
      const text = noise(20_000);
      await save(text, 1);
      const [key] = await bucket.keys();
      const puts = () => made.system.calls().get("test s3:PutObject");
      const before = puts();
      await save(text, 2);
      expect(before).toBeGreaterThan(0);
      expect(puts()).toBe(before);
      expect(await bucket.keys()).toEqual([key]);
      expect(await stored()).toMatchObject({ asOf: 2, by: ["m2"], news: false, announced: 1, object: key });
      expect(await textBack()).toBe(text);
    });

    test("store content that returns in a new object, because the earlier one may be removed", async () => {
      const [one, other] = [noise(20_000), noise(20_000)];
      for (const [index, text] of [one, other, one].entries()) await save(text, index + 1);
      expect(await bucket.keys()).toHaveLength(3);
      expect(await textBack()).toBe(one);
    });

    test("name an object by the time at which its content was announced, even if asOf decreases", async () => {
      await save(noise(20_000), 9);
      const { digest } = await save(noise(20_000), 5);
      const key = `data/account/${subject.id}/income/10.${digest}.json.gz`;
      expect(await stored()).toMatchObject({ asOf: 5, announced: 10, object: key });
      expect(await bucket.keys()).toContain(key);
    });
  });

  describe("with several writers", () => {
    test("are written only over the version that was read", async () => {
      const content = contentOf("[1]");
      const first = next(undefined, content, 1, income);
      expect(await store.save(undefined, first, content)).toBe("written");
      expect(await store.save(undefined, { ...first, asOf: 9 }, content)).toBe("conflict");
      const known = await store.load(subject, income);
      await save("[2]", 2);
      expect(await store.save(known, next(known, content, 3, income), content)).toBe("conflict");
      expect(await textBack()).toBe("[2]");
    });

    test("keep the winner's object if a refused writer had the same content at the same time", async () => {
      const text = noise(20_000);
      const document = next(undefined, contentOf(text), 1, income);
      const outcomes = [];
      for (const by of ["one", "other"])
        outcomes.push(await store.save(undefined, { ...document, by: [by] }, contentOf(text)));
      expect(outcomes).toEqual(["written", "conflict"]);
      expect(await bucket.keys()).toHaveLength(1);
      expect(await textBack()).toBe(text);
    });
  });

  describe("that are read", () => {
    test("are refused if their content differs from what was stored", async () => {
      const { digest } = await save(noise(20_000), 1);
      const key = `data/account/${subject.id}/income/1.${digest}.json.gz`;
      await overflowBucket(bucket.name).put(key, gzipSync("[]"));
      await expect(textBack()).rejects.toThrow("does not match its stored digest");
    });

    test("include all of a subject, with ranges and further pages, and no others", async () => {
      const names: DataName[] = [income, { ...income, range }, { endpoint: "profile" }];
      for (const name of names) await save("[1]", 1, name);
      const own = subject;
      subject = { kind: "account", id: `${own.id}#` };
      await save("[1]");
      const found = await documentReader(made.system.dynamodb, made.table.name)(own);
      expect(
        found.map(({ document: { endpoint, range: of } }) => ({ endpoint, ...(of && { range: of }) })),
      ).toEqual(names);
      expect(
        await documentReader(made.system.dynamodb, made.table.name)({ kind: "account", id: "nobody" }),
      ).toEqual([]);
    });
  });

  test("with a failed write to the bucket reference no object that was not stored", async () => {
    const working = made.system.fail("s3:PutObject");
    const content = contentOf(noise(20_000));
    await expect(store.save(undefined, next(undefined, content, 1, income), content)).rejects.toThrow(
      "injected by the test",
    );
    working();
    expect(await item()).toBeUndefined();
  });
});
