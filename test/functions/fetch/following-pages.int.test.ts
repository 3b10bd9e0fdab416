import { randomBytes, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { ProviderAnswer } from "../../../proof/support/test-provider.ts";
import { describeOnTables } from "../../support/engines.ts";
import { listFixture } from "../support/list-fixture.ts";

await describeOnTables("reading a list", (tables) => {
  const fixture = listFixture(tables);
  const { run, task, content, contentOf, sandboxFor, providerFor } = fixture;

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

  test.each<[string, ProviderAnswer]>([
    ["next_cursor", { json: { data: [1], next_cursor: "abc" } }],
    ["header Link", { json: [1], headers: { link: '</income?page=2>; rel="next"' } }],
  ])("rejects one that goes on in a way that the settings do not name: %s", async (sign, answer) => {
    const remote = await providerFor(() => answer);
    expect(await run(remote, [task()])).toEqual({
      hidden: [],
      reasons: [`provider.paging.next: finds nothing in an answer whose ${sign} tells of more pages`],
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
