import { randomBytes } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { subjectReads } from "../../../adapters/dynamodb/subject-reads.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import type { ProviderSettings } from "../../../domain/fetch/provider-settings.ts";
import { stateTask } from "../../../domain/fetch/task.ts";
import { documentAnswer } from "../../../functions/read/document-answer.ts";
import { describeOnTables } from "../../support/engines.ts";
import type { ProviderAnswer } from "../../support/test-provider.ts";
import { fetcherFixture, noon } from "../support/fetcher-fixture.ts";
import { provider, started } from "../support/fetcher-settings.ts";

const page = "<!doctype html><html><body><h1>We will be back soon</h1></body></html>";
const inProgress = '{"code":202,"message":"The pay statements are being fetched. Please try again later."}';
const hourInMillis = 3_600_000;

await describeOnTables("the fetcher, answered with what is no data,", (tables) => {
  const fixture = fetcherFixture(tables);
  const { fetcherOf, seenNow, perform, performAgain, postponed, calls, read, stored, content } = fixture;
  const good = '{"amount":1}';
  const strict: ProviderSettings = { ...provider, breaker: { ...provider.breaker, failures: 1 } };
  const withError: ProviderSettings = { ...strict, error: { path: "error.code", means: "not-ready" } };

  describe.each<[string, ProviderAnswer, ProviderSettings]>([
    ["202", { status: 202, text: inProgress }, strict],
    ["204", 204, strict],
    ["425", 425, strict],
    ["an error that means so", { json: { error: { code: "PRODUCT_NOT_READY" } } }, withError],
  ])("%s, not ready", (_, unready, settings) => {
    test("keeps the good document, waits, and stops no other call", async () => {
      await stored(good, 60);
      const before = await fixture.document();
      fixture.remote.answer = () => unready;
      expect(await perform(read(), settings)).toHaveLength(1);
      expect(await content()).toBe(good);
      expect(await fixture.document()).toEqual(before);
      expect(await fixture.tasks.deadLetters()).toEqual([]);
      expect(postponed()).toMatchObject([{ reason: expect.stringMatching(/not ready$/) }]);

      fixture.remote.answer = () => ({ text: '{"amount":2}' });
      expect((await performAgain(settings)).left).toEqual([]);
      expect(await content()).toBe('{"amount":2}');
    });
  });

  test.each<[string, ProviderAnswer]>([
    ["not ready", { status: 202, json: { connected: false } }],
    ["a page", { text: page, headers: { "content-type": "text/html" } }],
  ])("%s for a state, leaves the state unchanged, and is retried", async (_, answer) => {
    await fixture.put({ connected: true, version: 2 });
    fixture.remote.answer = () => answer;
    expect(await perform(stateTask("fetchState", fixture.subject, 2, {}))).toHaveLength(1);
    expect(await fixture.known.loadState(fixture.subject)).toMatchObject({ connected: true, version: 2 });
  });

  test("a start that is answered 202 is started, and one that is answered with a page is not", async () => {
    await fixture.put();
    const start = stateTask("startFetch", fixture.subject, 1, {});
    fixture.remote.answer = () => ({ text: page, headers: { "content-type": "text/html" } });
    expect(await perform(start, started)).toHaveLength(1);
    expect(await fixture.checks.depth()).toMatchObject({ delayed: 0 });
    fixture.remote.answer = () => ({ status: 202, text: "" });
    expect((await performAgain(started)).left).toEqual([]);
    expect(await fixture.checks.depth()).toMatchObject({ delayed: 1 });
  });

  test.each<[string, ProviderAnswer]>([
    ["a page", { text: page, headers: { "content-type": "text/html" } }],
    ["a page that is called JSON", { text: page }],
    ["JSON that breaks off", { text: '{"amount":' }],
    ["nothing", { text: "" }],
    ["a part, with 206", { status: 206, text: good }],
    [
      "text in another charset than it says",
      { text: "[1]", headers: { "content-type": "text/plain; charset=utf-16" } },
    ],
    ["text in another coding than it says", { text: good, headers: { "content-encoding": "gzip" } }],
    [
      "less than its Content-Length",
      (response) => {
        response.writeHead(200, { "content-length": "1000" });
        response.write(good, () => response.destroy());
      },
    ],
  ])(
    "%s, keeps its task and the document, counts for the breaker, and is over with the outage",
    async (_, answer) => {
      await stored(good, 60);
      fixture.remote.answer = () => answer;
      await fixture.tasks.send([read(), read({ endpoint: "profile" })]);
      const environment = fetcherOf({ ...provider, breaker: { ...provider.breaker, failures: 2 } });
      expect((await fixture.tasks.deliver(environment, seenNow())).left).toHaveLength(2);
      expect(await fixture.tasks.deadLetters()).toEqual([]);
      expect(await content()).toBe(good);

      const made = calls().length;
      await fixture.tasks.show();
      await fixture.tasks.deliver(environment, seenNow());
      expect(calls()).toHaveLength(made);
      expect(postponed().at(-1)).toMatchObject({ reason: "the provider is down" });

      fixture.remote.answer = () => ({ text: '{"amount":2}' });
      fixture.clock = new Date(noon.getTime() + hourInMillis);
      await performAgain();
      await performAgain();
      expect(await content()).toBe('{"amount":2}');
    },
  );
});

await describeOnTables("the fetcher, answered in another encoding than UTF-8,", (tables) => {
  const fixture = fetcherFixture(tables);
  const { perform, read } = fixture;
  const text = '{"data":{"name":"José Muñoz","employer":"Café Müller"}}';
  // Large enough to be stored in S3, compressed.
  const large = `{"data":"é${randomBytes(10_000).toString("hex")}"}`;
  const answering = (bytes: Uint8Array, headers: Record<string, string>) => {
    fixture.remote.answer = () => (response) => void response.writeHead(200, headers).end(bytes);
  };
  /** The document as a subscriber reads it. */
  async function served() {
    const reads = subjectReads(fixture.system.dynamodb, fixture.table.name);
    const document = await reads.document(fixture.subject, { endpoint: "income" });
    if (document === undefined) throw new Error("no document");
    const overflow = overflowBucket(fixture.bucket.name);
    const preferences = { acceptEncoding: undefined, ifNoneMatch: undefined, isHead: false };
    const { headers, body = Buffer.of() } = await documentAnswer(document, preferences, overflow);
    const bytes = body instanceof Uint8Array ? Buffer.from(body) : await buffer(body);
    return { type: headers["content-type"], bytes };
  }

  test.each<[string, Uint8Array, string, string?]>([
    ["ISO-8859-1 and S3", Buffer.from(large, "latin1"), "application/json; charset=ISO-8859-1"],
    [
      "UTF-8 with a mark",
      Buffer.from(`\uFEFF${text}`),
      "application/json; charset=utf-8",
      "application/json",
    ],
  ])("%s, keeps it byte for byte with its content type", async (_, bytes, type, expected = type) => {
    answering(gzipSync(bytes), { "content-type": type, "content-encoding": "gzip" });
    expect(await perform(read())).toEqual([]);
    expect(await served()).toEqual({ type: expected, bytes });
  });

  test("reads a list in pages by its charset, and keeps it as one in UTF-8", async () => {
    const type = { "content-type": "application/json; charset=ISO-8859-1" };
    const pageOf = (item: string, next: string) => Buffer.from(`{"data":["${item}"]${next}}`, "latin1");
    fixture.remote.answer =
      ({ path }) =>
      (response) =>
        void response
          .writeHead(200, type)
          .end(path.includes("cursor") ? pageOf("ü", "") : pageOf("é", ',"next":"2"'));
    expect(await perform(read())).toEqual([]);
    expect(await served()).toEqual({ type: "application/json", bytes: Buffer.from('{"data":["é","ü"]}') });
  });
});
