import { createHash, randomBytes, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { contentOf, documentStore } from "../../../adapters/dynamodb/documents.ts";
import { linkTable } from "../../../adapters/dynamodb/links.ts";
import { sharedReads } from "../../../adapters/dynamodb/shared-reads.ts";
import { sharedWrites } from "../../../adapters/dynamodb/shared-writes.ts";
import { subjectReads } from "../../../adapters/dynamodb/subject-reads.ts";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { objectEraser } from "../../../adapters/s3/object-eraser.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { retryable } from "../../../domain/core/failures.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { documentAfter } from "../../../domain/fetch/document.ts";
import type { DataName } from "../../../domain/fetch/document-name.ts";
import { documentTask } from "../../../domain/fetch/task.ts";
import { applyEvent } from "../../../domain/state/state.ts";
import { type HttpRequest, type ReaderDependencies, reader } from "../../../functions/read/reader.ts";
import { eventOf } from "../../domain/samples.ts";
import {
  describeOnTables,
  startTestSystem,
  type TestBucket,
  type TestSystem,
  type TestTable,
} from "../../support/engines.ts";
import { problemsOfAnswer } from "./described-answers.ts";

const income = { endpoint: "income" };
const documentsUrl = "https://reads.example/";
const text = `{"amount": 12345678901234567890.10, "when": "2026-01-01", "filler": "${"x".repeat(900)}"}`;

await describeOnTables("what subscribers read", (tables) => {
  let system: TestSystem;
  let table: TestTable;
  let bucket: TestBucket;
  let logged: string[];
  let account: Subject & { kind: "account" };
  let userId: string;

  beforeAll(async () => {
    system = await startTestSystem(tables);
    [table, bucket] = await Promise.all([system.createTable(), system.createBucket()]);
  });
  afterAll(() => system.close());
  beforeEach(() => {
    logged = [];
    account = { kind: "account", id: randomUUID() };
    userId = randomUUID();
  });

  const writes = () => sharedWrites(system.dynamodb, table.name, async () => undefined);
  const stored = () => overflowBucket(bucket.name, system.s3);
  const records = () => versionedRecords(system.dynamodb, table.name);

  async function save(content: string | undefined, asOf: number, name: DataName = income) {
    const store = documentStore(sharedReads(system.dynamodb, table.name), writes(), stored());
    const known = await store.load(account, name);
    const given = content === undefined ? undefined : contentOf(content);
    const task = documentTask(account, name, asOf, { cause: "c" });
    const found = given && { digest: given.digest, size: Buffer.byteLength(content ?? "") };
    await store.save(known, documentAfter(known?.document, { asOf, by: [], task }, found), given);
  }
  async function connect() {
    const event = eventOf("account.connected", { accountId: account.id, userId });
    await records().state(account, (state) => applyEvent(state, event, 1));
    await linkTable(writes())(userId, account.id);
  }
  async function ask(
    target: string,
    change: Partial<HttpRequest> = {},
    more: Partial<ReaderDependencies> = {},
  ) {
    const { pathname: path, search } = new URL(target, documentsUrl);
    const answer = await reader({
      reads: subjectReads(system.dynamodb, table.name),
      open: stored().open,
      subscribers: [
        { name: "everything", principals: ["222222222222"] },
        { name: "accounts", principals: ["333333333333"], types: ["account.*"] },
      ],
      log: (code, { principal, subject, endpoint, status } = {}) => {
        logged.push(
          [code, principal, subject, endpoint, status].filter((each) => each !== undefined).join(" "),
        );
      },
      ...more,
    })({
      method: "GET",
      path,
      query: search.slice(1),
      headers: {},
      caller: { accountId: "222222222222", userArn: "arn:aws:sts::222222222222:assumed-role/r/s" },
      ownAccount: "111111111111",
      documentsUrl,
      ...change,
    });
    const { body } = answer;
    const bytes = body instanceof Readable ? await buffer(body) : Buffer.from(body ?? "");
    expect(problemsOfAnswer(path, change.method ?? "GET", answer, bytes)).toEqual([]);
    return { ...answer, bytes, json: () => JSON.parse(bytes.toString()) };
  }
  const path = (rest = "") => `/v1/accounts/${account.id}/documents/income${rest}`;
  const hex = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  const accountsOnly = { caller: { accountId: "333333333333", userArn: "arn:aws:iam::333333333333:user/u" } };

  describe("of a document", () => {
    it("is what the provider gave, byte for byte, with its tag, digest and time", async () => {
      await save(text, 1_790_000_000_000);
      const { status, headers, bytes } = await ask(path());
      expect([status, bytes.toString()]).toEqual([200, text]);
      expect(headers).toMatchObject({
        etag: `"${hex(Buffer.from(text))}"`,
        vary: "Accept-Encoding",
        "last-modified": new Date(1_790_000_000_000).toUTCString(),
        "cache-control": "private, no-cache",
        "content-length": String(text.length),
        "repr-digest": `sha-256=:${createHash("sha256").update(text).digest("base64")}:`,
      });
    });

    it.each([
      ["in the item", text],
      ["in the bucket", JSON.stringify(randomBytes(40_000).toString("base64"))],
    ])(
      "%s is sent as it is stored to who takes gzip, with a tag and a digest of its own",
      async (_, content) => {
        await save(content, 1);
        const { headers, bytes } = await ask(path(), { headers: { "accept-encoding": "br, gzip" } });
        expect(gunzipSync(bytes).toString()).toBe(content);
        expect(headers).toMatchObject({
          "content-encoding": "gzip",
          etag: `"${hex(Buffer.from(content))}-gzip"`,
          "repr-digest": `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`,
        });
        expect((await ask(path())).bytes.toString()).toBe(content);
      },
    );

    it("is not sent again to who has it, in either coding", async () => {
      await save(text, 1);
      for (const acceptEncoding of ["gzip", "identity"]) {
        const headers = { "accept-encoding": acceptEncoding };
        const { etag = "" } = (await ask(path(), { headers })).headers;
        const again = await ask(path(), { headers: { ...headers, "if-none-match": etag } });
        expect([again.status, again.bytes.byteLength, again.headers.etag]).toEqual([304, 0, etag]);
      }
    });

    it("has the same headers where only they are asked for", async () => {
      await save(text, 1);
      const [whole, head] = [await ask(path()), await ask(path(), { method: "HEAD" })];
      expect([head.headers, head.bytes.byteLength]).toEqual([whole.headers, 0]);
    });

    it("of a range of dates is a document of its own", async () => {
      await save("[1]", 1, { ...income, range: { start: "2026-01-01", end: "2026-01-31" } });
      expect((await ask(path())).status).toBe(404);
      expect((await ask(path("/2026-01-01..2026-01-31"))).bytes.toString()).toBe("[1]");
    });

    it("is exactly the version that is asked for, or what was known at a time", async () => {
      await save(text, 1_790_000_000_000);
      const time = new Date(1_790_000_000_000).toISOString();
      for (const query of ["?version=1790000000000", `?asOf=${time}`])
        expect((await ask(path(query))).bytes.toString()).toBe(text);
      await save("[]", 1_800_000_000_000);
      for (const query of ["?version=1790000000000", "?version=1", `?asOf=${time}`]) {
        const { status, headers, json } = await ask(path(query));
        const newest = documentsUrl.slice(0, -1) + path();
        expect(json()).toMatchObject({ type: "urn:income-events:problem:version-not-kept", newest });
        expect([status, headers.link]).toEqual([404, `<${newest}>; rel="latest-version"`]);
      }
    });

    it("that never was, or that the provider has no more, is not found", async () => {
      expect((await ask(path())).json()).toMatchObject({ type: "urn:income-events:problem:not-found" });
      await save(text, 1);
      await save(undefined, 2);
      expect((await ask(path())).json()).toMatchObject({ type: "urn:income-events:problem:not-found" });
    });

    it("whose object is gone is a fault, never no data", async () => {
      await save(JSON.stringify(randomBytes(40_000).toString("base64")), 1);
      await objectEraser(system.s3, bucket.name).removeBelow(`data/account/${account.id}/`);
      const { status, json } = await ask(path());
      expect([status, json().type]).toEqual([500, "urn:income-events:problem:data-missing"]);
      expect(logged).toEqual([expect.stringMatching(/^DOCUMENT_DATA_MISSING .* account\/.* income 500$/)]);
    });

    it("can't be read for a moment while the table throttles", async () => {
      const reads = {
        ...subjectReads(system.dynamodb, table.name),
        document: () => Promise.reject(retryable("busy")),
      };
      const { status, headers } = await ask(path(), {}, { reads });
      expect([status, headers["retry-after"]]).toEqual([503, "1"]);
    });

    it("is refused to whose subscriber's filter does not let it through, also where there is none", async () => {
      expect((await ask(path(), accountsOnly)).status).toBe(403);
      await save(text, 1);
      const { status, bytes } = await ask(path(), accountsOnly);
      expect(status).toBe(403);
      expect(bytes.toString()).not.toContain("amount");
    });
  });

  describe("of a state", () => {
    it("is what messages report of it, with the list of its documents", async () => {
      await connect();
      await save(text, 1_790_000_000_000);
      const { json } = await ask(`/v1/accounts/${account.id}`);
      expect(json()).toEqual({
        subject: `account/${account.id}`,
        sequence: "00000000000000000001",
        data: { accountId: account.id, userId, connected: true, deleted: false, unconfirmed: false },
        documents: [
          {
            endpoint: "income",
            href: `${documentsUrl.slice(0, -1)}${path("?version=1790000000000")}`,
            sha256: hex(Buffer.from(text)),
            size: text.length,
            contentType: "application/json",
            version: "1790000000000",
            observedAt: new Date(1_790_000_000_000).toISOString(),
          },
        ],
      });
    });

    it("lists no documents to who may read none", async () => {
      await connect();
      await save(text, 1);
      const { status, json } = await ask(`/v1/accounts/${account.id}`, accountsOnly);
      expect(status).toBe(200);
      expect(json()).not.toHaveProperty("documents");
    });

    it("is given of each account of a user", async () => {
      await connect();
      const { json } = await ask(`/v1/users/${userId}/accounts`, accountsOnly);
      const href = `${documentsUrl}v1/accounts/${account.id}`;
      expect(json().accounts).toMatchObject([
        { subject: `account/${account.id}`, href, data: { connected: true } },
      ]);
    });

    it.each(["users", "accounts", "company-accounts"])(
      "that nobody knows is not found: %s",
      async (collection) => {
        expect((await ask(`/v1/${collection}/${randomUUID()}`)).status).toBe(404);
      },
    );
  });

  it("is logged by code and ids, with who read it", async () => {
    await save(text, 1);
    await ask(path());
    await ask(path(), accountsOnly);
    const about = `account/${account.id} income`;
    expect(logged).toEqual([
      `READ arn:aws:sts::222222222222:assumed-role/r ${about} 200`,
      `READ_REFUSED arn:aws:iam::333333333333:user/u ${about}`,
    ]);
  });
});
