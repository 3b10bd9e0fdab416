import { randomUUID } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { contentOf } from "../../../adapters/dynamodb/document-store.ts";
import { requestFetchFor } from "../../../domain/fetch/document.ts";
import { readTask, writeTask } from "../../../domain/fetch/tasks.ts";
import { describeOnTables } from "../../support/engines.ts";
import { fetcherFixture, noon, provider } from "../support/fetcher-fixture.ts";
import { deliver } from "../support/lambda.ts";

await describeOnTables("the fetcher", (tables) => {
  const fixture = fetcherFixture(tables);
  const { fetcherOf, perform, codes, calls, deadLetters, want: request, content } = fixture;

  describe("reading an endpoint", () => {
    const text = '{"amount": 12345678901234567890.10}';

    test("stores the data byte for byte, and says that it is new", async () => {
      await request("income", { wanted: 3 });
      fixture.remote.answer = () => ({ text });
      expect(await perform(readTask(fixture.subject, { endpoint: "income" }, 2))).toEqual([]);
      expect(calls()).toEqual([`GET /accounts/${fixture.subject.id}/income`]);
      expect(await content()).toMatchObject({ content: text, digest: contentOf(text).digest, done: 3 });
      expect(await fixture.known.loadDocument(fixture.subject, { endpoint: "income" })).toMatchObject({
        version: 2,
        wanted: 3,
        done: 3,
        content: contentOf(text).digest,
        latest: { cause: "answer", at: noon.toISOString() },
      });
    });

    test("of a company account calls its own path", async () => {
      fixture.subject = { kind: "company-account", id: randomUUID() };
      await request("income");
      fixture.remote.answer = () => ({ text });
      await perform(readTask(fixture.subject, { endpoint: "income" }, 1));
      expect(calls()).toEqual([`GET /company/${fixture.subject.id}/income`]);
      expect(await fixture.table.item(`COMPANY#${fixture.subject.id}`, "CONTENT#income")).toMatchObject({
        content: text,
      });
    });

    test("by dates asks for these only, and keeps them apart from all else of the endpoint", async () => {
      const range = { start: "2026-01-01", end: "2026-01-31" };
      const name = { endpoint: "income", range };
      const readRange = "/accounts/{account_id}/{endpoint}?date_start={date_start}&date_end={date_end}";
      const byDates = { ...provider, paths: { ...provider.paths, readRange } };
      await request("income");
      await fixture.known.document(fixture.subject, name, (before) =>
        requestFetchFor(before, fixture.subject, name, { key: "test" }),
      );
      fixture.remote.answer = () => ({ text });
      expect(await perform(readTask(fixture.subject, name, 1), byDates)).toEqual([]);
      expect(calls()).toEqual([
        `GET /accounts/${fixture.subject.id}/income?date_start=2026-01-01&date_end=2026-01-31`,
      ]);
      expect(
        await fixture.table.item(`ACCOUNT#${fixture.subject.id}`, "CONTENT#income#2026-01-01..2026-01-31"),
      ).toMatchObject({ content: text, done: 1 });
      expect(await fixture.known.loadDocument(fixture.subject, name)).toMatchObject({ range, done: 1 });
      expect(await content()).toBeUndefined();
      expect(await fixture.known.loadDocument(fixture.subject, { endpoint: "income" })).toMatchObject({
        done: 0,
      });
    });

    test("of which the data is large keeps it in the bucket", async () => {
      const large = JSON.stringify({ filler: "x".repeat(500_000) });
      await request("income");
      fixture.remote.answer = () => ({ text: large });
      await perform(readTask(fixture.subject, { endpoint: "income" }, 1));
      const { object } = (await content()) ?? {};
      expect(gunzipSync(await fixture.bucket.bytes(String(object))).toString()).toBe(large);
    });

    test.each([
      ["that is done", { wanted: 2, done: 2 }, 2],
      ["that a later one has overtaken", { wanted: 5, done: 3 }, 2],
    ])("%s is void: nothing is called", async (_, facts, wanted) => {
      await request("income", facts);
      expect(await perform(readTask(fixture.subject, { endpoint: "income" }, wanted))).toEqual([]);
      expect(calls()).toEqual([]);
      expect(codes()).toEqual(["TASK_VOID"]);
    });

    test("that nothing is known of is void", async () => {
      expect(await perform(readTask(fixture.subject, { endpoint: "income" }, 1))).toEqual([]);
      expect(calls()).toEqual([]);
    });
  });

  describe("reading an endpoint", () => {
    const text = '{"amount": 12345678901234567890.10}';

    test("of unchanged data announces nothing, and is done", async () => {
      const { digest } = contentOf(text);
      await request("income", { content: digest });
      fixture.remote.answer = () => ({ text });
      await perform(readTask(fixture.subject, { endpoint: "income" }, 1));
      expect(await fixture.known.loadDocument(fixture.subject, { endpoint: "income" })).toMatchObject({
        done: 1,
        content: digest,
        latest: { cause: "again" },
      });
    });

    test("stores data even where its digest is known, for a slower fetch may have left older data", async () => {
      await request("income", { content: contentOf(text).digest });
      fixture.remote.answer = () => ({ text });
      await perform(readTask(fixture.subject, { endpoint: "income" }, 1));
      expect(await content()).toMatchObject({ content: text, done: 1 });
    });

    test.each([404, 410])("answered with %i notes that the provider has none any more", async (status) => {
      await request("income", { content: "old" });
      fixture.remote.answer = () => status;
      expect(await perform(readTask(fixture.subject, { endpoint: "income" }, 1))).toEqual([]);
      expect(await content()).toMatchObject({ done: 1 });
      expect(await content()).not.toHaveProperty("content");
      const document = await fixture.known.loadDocument(fixture.subject, { endpoint: "income" });
      expect(document).toMatchObject({ done: 1, latest: { cause: "answer" } });
      expect(document).not.toHaveProperty("content");
    });

    test("that was requested again during the call is done up to what was noted before it", async () => {
      await request("income");
      fixture.remote.answer = async (_, count) => {
        if (count > 1) return { text };
        await fixture.known.document(
          fixture.subject,
          { endpoint: "income" },
          (document) => document && { ...document, version: 2, wanted: 2 },
        );
        return { text };
      };
      await perform(readTask(fixture.subject, { endpoint: "income" }, 1));
      expect(await fixture.known.loadDocument(fixture.subject, { endpoint: "income" })).toMatchObject({
        wanted: 2,
        done: 1,
        version: 3,
      });
      expect(await perform(readTask(fixture.subject, { endpoint: "income" }, 2))).toEqual([]);
      expect(await fixture.known.loadDocument(fixture.subject, { endpoint: "income" })).toMatchObject({
        wanted: 2,
        done: 2,
      });
    });

    test("by two at once, of which the slower stores older data last, is corrected by the newer data's event", async () => {
      await request("income");
      const newerIsStored = Promise.withResolvers<void>();
      const olderIsStored = Promise.withResolvers<void>();
      fixture.remote.answer = async (_, count) => {
        if (count > 1) return { json: "newer" };
        await newerIsStored.promise;
        return { json: "older" };
      };
      let puts = 0;
      // Of four writes: newer data, older data, newer data noted, older data not noted.
      const working = fixture.system.intercept(async ({ action }, phase) => {
        if (action !== "dynamodb:PutItem" && action !== "dynamodb:BatchExecuteStatement") return undefined;
        if (phase === "before") {
          puts += 1;
          if (puts === 2) await olderIsStored.promise;
        } else if (puts === 1) newerIsStored.resolve();
        else olderIsStored.resolve();
        return undefined;
      });
      const task = writeTask(readTask(fixture.subject, { endpoint: "income" }, 1));
      await Promise.all([
        fixture.system.send(fixture.queueUrl, task),
        fixture.system.send(fixture.queueUrl, task),
      ]);
      const unclaimed = fetcherOf(provider, { claimData: async () => async () => undefined });
      expect(await deliver(fixture.system, fixture.queueUrl, unclaimed)).toEqual([]);
      working();
      expect(await content()).toMatchObject({ content: '"older"' });
      expect(await fixture.known.loadDocument(fixture.subject, { endpoint: "income" })).toMatchObject({
        content: contentOf('"newer"').digest,
      });
      // The newer data had its event, which wants it read once more: then it is stored, though it was noted before.
      await fixture.known.document(
        fixture.subject,
        { endpoint: "income" },
        (document) => document && { ...document, version: 3, wanted: 2 },
      );
      await perform(readTask(fixture.subject, { endpoint: "income" }, 2));
      expect(await content()).toMatchObject({ content: '"newer"', done: 2 });
    });

    test("whose data could not be stored is not done", async () => {
      await request("income");
      fixture.remote.answer = () => ({ text });
      const working = fixture.system.fail("dynamodb:PutItem");
      await perform(readTask(fixture.subject, { endpoint: "income" }, 1));
      working();
      expect(codes()).toEqual(["TASK_POSTPONED"]);
      expect(await fixture.known.loadDocument(fixture.subject, { endpoint: "income" })).toMatchObject({
        done: 0,
      });
    });

    test.each<[string, { status?: number; text: string; headers?: Record<string, string> }]>([
      ["a page", { text: "<html>maintenance</html>", headers: { "content-type": "text/html" } }],
      ["JSON that breaks off", { text: '{"amount":' }],
      ["nothing", { text: "" }],
      ["nothing, with 204", { status: 204, text: "" }],
    ])(
      "answered with %s goes to the dead-letter queue with its reason, and stores nothing",
      async (_, answer) => {
        await request("income");
        fixture.remote.answer = () => answer;
        const task = readTask(fixture.subject, { endpoint: "income" }, 1);
        expect(await perform(task)).toEqual([]);
        expect(await deadLetters()).toEqual([
          { body: writeTask(task), reason: "the provider's answer is not JSON" },
        ]);
        expect(await content()).toBeUndefined();
        expect(await fixture.known.loadDocument(fixture.subject, { endpoint: "income" })).toMatchObject({
          done: 0,
        });
      },
    );

    test.each(["null", "[]", '"text"', "0"])("takes any JSON for data: %s", async (json) => {
      await request("income");
      fixture.remote.answer = () => ({ text: json });
      await perform(readTask(fixture.subject, { endpoint: "income" }, 1));
      expect(await content()).toMatchObject({ content: json });
    });
  });
});
