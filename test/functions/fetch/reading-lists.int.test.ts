import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Subject } from "../../../domain/event/subjects.ts";
import { messageDigest } from "../../../domain/fetch/document.ts";
import { describeOnTables } from "../../support/engines.ts";
import { noon } from "../support/fetcher-fixture.ts";
import { callsOf, listFixture } from "../support/list-fixture.ts";

await describeOnTables("reading a list", (tables) => {
  const fixture = listFixture(tables);
  const { run, task, content, contentOf, document, stored, sandboxFor, providerFor, wholeOf } = fixture;
  const done = { hidden: [], reasons: [] };
  /** Enough time for the current call, but for no other. */
  const oneCall = { timeLeft: () => 11_999 };

  describe("that the sandbox pages", () => {
    test("follows it to its end, and stores what one page would have held", async () => {
      const sandbox = await sandboxFor({ pageSize: 3 });
      expect(await run(sandbox)).toEqual(done);
      expect(callsOf(sandbox)).toEqual([200, 200, 200]);
      expect(JSON.parse((await content()) ?? "")).toEqual(wholeOf(sandbox));
      expect(fixture.entries).toMatchObject([{ code: "TASK_DONE" }]);
      expect(await fixture.bucket.keys()).toEqual([]);
    });

    test("leaves a whole answer as it is, byte for byte", async () => {
      const sandbox = await sandboxFor();
      await run(sandbox);
      expect(callsOf(sandbox)).toEqual([200]);
      expect(await content()).toBe(JSON.stringify(sandbox.data(fixture.subject.id, "income")));
    });

    test("resumes at a failed page: no page is read twice", async () => {
      const sandbox = await sandboxFor({ pageSize: 2 });
      // The third of the next calls.
      sandbox.fault({ path: "/income", status: 503, share: 1 / 3, times: 1 });
      expect(await run(sandbox)).toEqual({ hidden: [200], reasons: [] });
      expect(await content()).toBeUndefined();
      // An erasure finds them by their subject.
      expect(await fixture.bucket.keys()).toEqual([`pages/account/${fixture.subject.id}/income/m0.gz`]);
      expect(await run(sandbox, [task()], { receives: 2 })).toEqual(done);
      expect(callsOf(sandbox)).toEqual([200, 200, 503, 200, 200]);
      expect(JSON.parse((await content()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test("continues in further runs after a run's time is over, as of its first page and for the same tasks", async () => {
      const sandbox = await sandboxFor({ pageSize: 2 });
      for (let receives = 1; receives <= 3; receives += 1) {
        expect(await run(sandbox, [task()], { ...oneCall, receives })).toEqual({ hidden: [1], reasons: [] });
        expect(fixture.entries).toMatchObject([{ code: "TASK_POSTPONED", reason: "more pages are left" }]);
        fixture.clock = new Date(noon.getTime() + receives * 60_000);
      }
      expect(await run(sandbox, [task()], { ...oneCall, receives: 4 })).toEqual(done);
      expect(callsOf(sandbox)).toEqual([200, 200, 200, 200]);
      expect(JSON.parse((await content()) ?? "")).toEqual(wholeOf(sandbox));
      expect(await document()).toMatchObject({
        asOf: noon.getTime(),
        by: [messageDigest("m0")],
      });
    });

    test("that another read has covered is not continued", async () => {
      const sandbox = await sandboxFor({ pageSize: 4 });
      await run(sandbox, [task()], oneCall);
      await stored("[1]", 0);
      fixture.clock = new Date(noon.getTime() + 60_000);
      await run(sandbox, [task(fixture.subject, noon.getTime() - 60_000)], { receives: 2 });
      expect(fixture.entries).toMatchObject([{ code: "TASK_SKIPPED" }]);
      expect(callsOf(sandbox)).toEqual([200]);
    });
  });

  test("is cut before the function's time ends: the task is hidden, and no message returns by itself", async () => {
    const sandbox = await sandboxFor();
    sandbox.fault({ path: "/income", effect: "hang" });
    // A tenth of a second, plus the function's reserve for settling.
    const { hidden, reasons } = await run(sandbox, [task()], {
      timeLeft: () => 1_100,
    });
    expect(reasons).toEqual([]);
    expect(hidden).toHaveLength(1);
    expect(fixture.entries).toMatchObject([
      { reason: "the provider could not be reached: it took too long" },
    ]);
  });

  test("keeps a large one in the bucket, and its pages apart from it", async () => {
    const item = JSON.stringify(randomBytes(20_000).toString("base64"));
    const remote = await providerFor((path) => ({
      text: `{"data":[${item}],"next":${path.includes("cursor") ? "null" : '"b"'}}`,
    }));
    await run(remote, [task()]);
    expect(await content()).toBe(`{"data":[${item},${item}],"next":null}`);
    expect(await fixture.bucket.keys()).toEqual([expect.stringMatching(/^data\//)]);
  });

  test("rejects one that is too large in all, with the setting's name", async () => {
    const remote = await providerFor((_path, count) => ({
      json: { data: ["x".repeat(300)], next: `c${count}` },
    }));
    expect(await run(remote, [task()], { others: { maxDataBytes: 1_000 } })).toEqual({
      hidden: [],
      reasons: ["the data is over 1000 bytes; see provider.maxDataBytes"],
    });
    expect(remote.requests).toHaveLength(4);
    expect(await content()).toBeUndefined();
  });

  test("rejects one that goes on in a way that the settings do not name", async () => {
    const remote = await providerFor(() => ({
      json: [1],
      headers: { link: '</income?page=2>; rel="next"' },
    }));
    expect(await run(remote, [task()])).toEqual({
      hidden: [],
      reasons: ["provider.paging.next: finds nothing in an answer whose header Link tells of more pages"],
    });
    expect(await content()).toBeUndefined();
  });

  test("that waited for another one until the time was over makes no call that would be cut", async () => {
    // Both continue from saved pages: one reads its own, the other runs out of time.
    const both = [task(), { ...task(), endpoint: "income-tax" }];
    for (const [index, each] of both.entries()) await fixture.keepPagesOf(each, `m${index}`);
    const bothWereFound = Promise.withResolvers<void>();
    let found = 0;
    const onPagesFound = () => {
      found += 1;
      if (found === both.length) bothWereFound.resolve();
    };
    const remote = await providerFor(async () => {
      await bothWereFound.promise;
      return { json: { data: [2], next: null } };
    });
    const again = await run(remote, both, { timeLeft: () => 9_000, receives: 2, onPagesFound });
    expect(remote.requests).toHaveLength(1);
    expect(again).toEqual({ hidden: [expect.any(Number)], reasons: [] });
    expect(fixture.entries.map(({ code }) => code).toSorted()).toEqual(["TASK_DONE", "TASK_POSTPONED"]);
    expect(fixture.entries).toContainEqual(expect.objectContaining({ reason: "more pages are left" }));
  });

  test("collects one at a time: together they would not fit the function's memory", async () => {
    let collecting = 0;
    let most = 0;
    const remote = await providerFor((path) => {
      if (!path.includes("cursor=")) return { json: { data: [1], next: "a" } };
      collecting += 1;
      most = Math.max(most, collecting);
      return (response) => {
        setImmediate(() => {
          collecting -= 1;
          response.writeHead(200).end(`{"data":[2],"next":${path.endsWith("a") ? '"b"' : "null"}}`);
        });
      };
    });
    const subjects: Subject[] = Array.from({ length: 8 }, () => ({ kind: "account", id: randomUUID() }));
    await run(
      remote,
      subjects.map((each) => task(each)),
    );
    expect(most).toBe(1);
    for (const each of subjects) expect(await contentOf(each)).toBe('{"data":[1,2,2],"next":null}');
  });
});
