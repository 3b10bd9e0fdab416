import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { contentOf } from "../../../adapters/dynamodb/documents.ts";
import { messageDigest } from "../../../domain/fetch/document.ts";
import { describeOnTables } from "../../support/engines.ts";
import { fetcherFixture, income, noon } from "../support/fetcher-fixture.ts";
import { provider } from "../support/fetcher-settings.ts";

await describeOnTables("the fetcher, reading a document,", (tables) => {
  const fixture = fetcherFixture(tables);
  const { fetcherOf, seenNow, perform, codes, calls, read, stored, document, content } = fixture;
  const text = '{"amount": 12345678901234567890.10}';

  test("stores the data byte for byte, and says that it is news, as of the call and for the message", async () => {
    fixture.remote.answer = () => ({ text });
    await fixture.tasks.send([read(income, 10, { correlationId: "event", userId: "u" })]);
    const { left, messageIds } = await fixture.tasks.deliver(fetcherOf(), seenNow());
    expect(left).toEqual([]);
    expect(calls()).toEqual([`GET /accounts/${fixture.subject.id}/income`]);
    expect(await document()).toEqual({
      subject: fixture.subject,
      endpoint: "income",
      asOf: noon.getTime(),
      by: messageIds.map(messageDigest),
      digest: contentOf(text).digest,
      size: text.length,
      announced: noon.getTime(),
      news: true,
      correlationId: "event",
      userId: "u",
    });
    expect(await content()).toBe(text);
    expect(codes()).toEqual(["TASK_DONE"]);
  });

  test.each([
    ["a webhook", "event.1", { toDocument: [10_000] }],
    ["a check of a start", "start.1.message", undefined],
  ])("measures the time to a document only if a webhook announced it: %s", async (_, cause, latencies) => {
    fixture.remote.answer = () => ({ text });
    await perform({ ...read(income, 10, { correlationId: "event" }), cause });
    expect(fixture.entries.map((entry) => [entry.code, entry.latencies])).toEqual([["TASK_DONE", latencies]]);
  });

  test("reads documents and tombstones of a batch with one request, and writes them with one", async () => {
    fixture.remote.answer = () => ({ text });
    const handler = fetcherOf();
    // The environment has then read the breaker.
    await fixture.tasks.send([read({ endpoint: "warm" })]);
    await fixture.tasks.deliver(handler, seenNow());
    const counts = () =>
      ["BatchGetItem", "GetItem", "BatchExecuteStatement"].map(
        (name) => fixture.system.calls().get(`test dynamodb:${name}`) ?? 0,
      );
    const before = counts();
    await fixture.tasks.send([read(), read(), read({ endpoint: "profile" })]);
    await fixture.tasks.deliver(handler, seenNow());
    expect(counts().map((count, index) => count - (before[index] ?? 0))).toEqual([1, 0, 1]);
  });

  test("of a company account calls its own path", async () => {
    fixture.subject = { kind: "company-account", id: randomUUID() };
    fixture.remote.answer = () => ({ text });
    await perform(read());
    expect(calls()).toEqual([`GET /company/${fixture.subject.id}/income`]);
    expect(await content()).toBe(text);
  });

  test("by dates asks for these only, and keeps them apart from all else of the endpoint", async () => {
    const name = { ...income, range: { start: "2026-01-01", end: "2026-01-31" } };
    const readRange = {
      income: "/accounts/{account_id}/{endpoint}?date_start={date_start}&date_end={date_end}",
    };
    fixture.remote.answer = () => ({ text });
    expect(await perform(read(name), { ...provider, paths: { ...provider.paths, readRange } })).toEqual([]);
    expect(calls()).toEqual([
      `GET /accounts/${fixture.subject.id}/income?date_start=2026-01-01&date_end=2026-01-31`,
    ]);
    expect(await content(name)).toBe(text);
    expect(await document()).toBeUndefined();
  });

  test("names the user of the document: of its event, else of the account's state, else of nobody", async () => {
    fixture.remote.answer = () => ({ text });
    const ownerOf = async (endpoint: string, userId?: string) => {
      await perform(read({ endpoint }, 10, userId === undefined ? {} : { userId }));
      return (await document({ endpoint }))?.userId;
    };
    expect(await ownerOf("profile")).toBeUndefined();
    await fixture.put({ userId: "of-the-state" });
    expect(await ownerOf("income")).toBe("of-the-state");
    expect(await ownerOf("assets", "of-the-event")).toBe("of-the-event");
  });

  test("announces nothing if the data is unchanged, but records the call, which completes its tasks", async () => {
    fixture.remote.answer = () => ({ text });
    await stored(text, 60);
    await perform(read());
    expect(calls()).toHaveLength(1);
    expect(await document()).toMatchObject({
      asOf: noon.getTime(),
      announced: noon.getTime() - 60_000,
      by: [expect.any(String)],
      news: false,
    });
    expect(await content()).toBe(text);
  });

  describe.each([404, 410])("answered with %i", (status) => {
    test("records that the provider has no more data, which is news and completes the task", async () => {
      await stored(text, 60);
      fixture.remote.answer = () => status;
      expect(await perform(read())).toEqual([]);
      expect(codes()).toEqual(["TASK_DONE"]);
      const gone = await document();
      expect(gone).toMatchObject({ asOf: noon.getTime(), announced: noon.getTime(), news: true });
      expect(gone).not.toHaveProperty("digest");
      expect(await content()).toBeUndefined();
    });

    test("records that there never was data, which is no news and completes the task", async () => {
      fixture.remote.answer = () => status;
      expect(await perform(read())).toEqual([]);
      const none = await document();
      expect(none).toMatchObject({ asOf: noon.getTime(), by: [expect.any(String)], news: false });
      expect(none).not.toHaveProperty("announced");
      await perform(read(income, 20));
      expect(calls()).toHaveLength(1);
    });
  });
});
