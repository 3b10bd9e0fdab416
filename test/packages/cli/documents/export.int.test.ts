import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { contentOf, type StoredDocument } from "../../../../adapters/dynamodb/documents.ts";
import {
  type ExportPorts,
  type ExportQuery,
  exportDocuments,
  openExport,
} from "../../../../packages/cli/documents/export.ts";

const now = new Date("2026-11-24T12:00:00Z");
const query: ExportQuery = { table: "table", endpoint: "income", since: "24h" };
const eachPage = { bytes: 1, pages: 1 };

function stored(id: string, text: string, change: Partial<StoredDocument["document"]> = {}): StoredDocument {
  const { digest } = contentOf(text);
  const subject = { kind: "account", id } as const;
  const facts = { endpoint: "income", asOf: 1, by: [], announced: 5, news: true, size: text.length };
  return {
    document: { subject, ...facts, digest, ...change },
    storage: { codec: "gzip", content: gzipSync(text) },
  };
}

describe("an export of documents", () => {
  let parent: string;
  let to: string;
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), "export-"));
    to = join(parent, "exported");
  });
  afterEach(() => rm(parent, { recursive: true, force: true }));

  /** One page per document; a continued scan starts after a page's key. */
  async function run(
    documents: readonly StoredDocument[],
    change: Partial<ExportPorts> = {},
    limits = eachPage,
  ) {
    const scan: ExportPorts["scan"] = async function* (after) {
      const from = after === undefined ? 0 : Number(after.sk);
      for (const [index, document] of documents.slice(from).entries()) {
        const at = from + index + 1;
        const last = { pk: "page", sk: String(at) };
        yield { documents: [document], examined: 10, ...(at < documents.length && { last }) };
      }
    };
    return exportDocuments(
      await openExport(to, query, now),
      { endpoint: "income", since: 3 },
      {
        scan,
        readDocuments: async () => [],
        overflow: { get: () => Promise.reject(Object.assign(new Error(), { name: "NoSuchKey" })) },
        onScanned: () => undefined,
        onFile: () => undefined,
        signal: new AbortController().signal,
        ...change,
      },
      limits,
    );
  }
  async function rows(): Promise<readonly string[]> {
    const names = (await readdir(to)).filter((name) => name.endsWith(".ndjson.gz")).toSorted();
    const texts = await Promise.all(
      names.map(async (name) => gunzipSync(await readFile(join(to, name))).toString()),
    );
    return texts.flatMap((text) => text.trimEnd().split("\n"));
  }

  it("has a line for each document, with every digit, which the schema beside it describes", async () => {
    const pretty = '{\r\n  "amount": 12345678901234567890.10,\n  "name": "a\\nb 😀"\n}';
    await run([
      stored("a/1", pretty, { userId: "u", range: { start: "2026-01-01", end: "2026-01-31" } }),
      stored("2", "no JSON\nat all"),
    ]);
    const [one = "", two = "", ...others] = await rows();
    expect(others).toEqual([]);
    expect(one).toContain('"amount": 12345678901234567890.10');
    expect(JSON.parse(one)).toMatchObject({
      ...{ subject: "account/a%2F1", kind: "account", id: "a/1", userId: "u", endpoint: "income" },
      ...{ dateStart: "2026-01-01", dateEnd: "2026-01-31", version: "5" },
      ...{ observedAt: "1970-01-01T00:00:00.005Z", sha256: contentOf(pretty).digest },
      document: { name: "a\nb 😀" },
    });
    expect(JSON.parse(two)).toMatchObject({ text: "no JSON\nat all" });
    const ajv = new Ajv2020();
    addFormats.default(ajv);
    const validate = ajv.compile(JSON.parse(await readFile(join(to, "schema.json"), "utf8")));
    for (const row of [one, two]) expect([validate(JSON.parse(row)), validate.errors]).toEqual([true, null]);
  });

  it("leaves out what has another endpoint, has not changed since, or has no data", async () => {
    const { document, storage: place } = stored("4", "{}");
    const { digest: _, ...without } = document;
    await run([
      stored("1", "{}", { endpoint: "profile" }),
      stored("2", "{}", { announced: 2 }),
      stored("3", "{}"),
      { document: without, storage: place },
    ]);
    expect((await rows()).map((row) => JSON.parse(row).id)).toEqual(["3"]);
    await rm(to, { recursive: true });
    expect(await run([stored("1", "{}", { endpoint: "profile" })])).toMatchObject({ files: [] });
    expect(await readdir(to)).toEqual(["export.json", "schema.json"]);
  });

  it("is for its owner alone", async () => {
    await run([stored("1", "{}")]);
    expect((await stat(to)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(to)) expect((await stat(join(to, name))).mode & 0o777, name).toBe(0o600);
  });

  it("resumes after a failure: each document is written once, and none is read twice", async () => {
    const documents = ["1", "2", "3", "4"].map((id) => stored(id, `{"id":${id}}`));
    const failing = (id: string): Partial<ExportPorts> => ({
      onScanned: (_, found) => {
        if (String(found) === id) throw new Error("the network is gone");
      },
    });
    await expect(run(documents, failing("2"))).rejects.toThrow("the network is gone");
    await expect(run(documents, failing("4"))).rejects.toThrow("the network is gone");
    const { documents: count, examined, after } = await run(documents);
    expect([count, examined, after]).toEqual([4, 40, undefined]);
    expect((await rows()).map((row) => JSON.parse(row).id)).toEqual(["1", "2", "3", "4"]);
    expect((await readdir(to)).filter((name) => name.endsWith(".partial"))).toEqual([]);
  });

  it("ends with the current page if it is interrupted, and resumes after it", async () => {
    const documents = ["1", "2", "3"].map((id) => stored(id, "{}"));
    const interruption = new AbortController();
    const stopped = await run(
      documents,
      { signal: interruption.signal, onScanned: () => interruption.abort() },
      { bytes: 1_000, pages: 1_000 },
    );
    expect([stopped.documents, stopped.files, stopped.after]).toEqual([
      1,
      ["documents-00001.ndjson.gz"],
      { pk: "page", sk: "1" },
    ]);
    await run(documents);
    expect((await rows()).map((row) => JSON.parse(row).id)).toEqual(["1", "2", "3"]);
  });

  it("has the replacement of a version whose object is missing, and no data of erased users", async () => {
    const { document } = stored("1", "old");
    const gone: StoredDocument = { document, storage: { codec: "gzip", object: "gone" } };
    await run([gone], { readDocuments: async () => [stored("1", '"new"')] });
    expect((await rows()).map((row) => JSON.parse(row).document)).toEqual(["new"]);
    await rm(to, { recursive: true });
    expect(await run([gone])).toMatchObject({ documents: 0, unreadable: [] });
  });

  it("names a document whose data is missing or altered, and continues", async () => {
    const lost: StoredDocument = { document: stored("1", "{}").document, storage: { object: "gone" } };
    const other: StoredDocument = {
      ...stored("2", "{}"),
      storage: { codec: "identity", content: Buffer.from("x") },
    };
    const { unreadable, documents } = await run([lost, other, stored("3", "{}")], {
      readDocuments: async ({ id }) => [id === "1" ? lost : other],
    });
    expect([unreadable, documents]).toEqual([["account/1/income", "account/2/income"], 1]);
  });

  it("passes on other errors, and does not treat them as a document without data", async () => {
    const elsewhere: StoredDocument = { document: stored("1", "{}").document, storage: { object: "key" } };
    const denied = { get: () => Promise.reject(Object.assign(new Error("no"), { name: "AccessDenied" })) };
    await expect(run([elsewhere], { overflow: denied })).rejects.toThrow("no");
  });

  describe("refuses a directory", () => {
    it("that holds the export of another query, or this one whole", async () => {
      await run([stored("1", "{}")]);
      await expect(openExport(to, { ...query, since: "7d" }, now)).rejects.toThrow(
        /holds another export, of the table table --endpoint income --since 24h: name a new directory/,
      );
      await expect(openExport(to, query, now)).rejects.toThrow(/holds this export whole/);
    });

    it("that holds anything else, or is none", async () => {
      await writeFile(join(parent, "file"), "");
      await expect(openExport(parent, query, now)).rejects.toThrow(/is not empty/);
      await expect(openExport(join(parent, "file"), query, now)).rejects.toThrow(
        /is not a readable directory/,
      );
    });
  });
});
