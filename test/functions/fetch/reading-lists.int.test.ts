import { describe, expect, test } from "vitest";
import { messageDigest } from "../../../domain/fetch/document.ts";
import { describeOnTables } from "../../support/engines.ts";
import { noon } from "../support/fetcher-fixture.ts";
import { callsOf, listFixture } from "../support/list-fixture.ts";

await describeOnTables("reading a list", (tables) => {
  const fixture = listFixture(tables);
  const { run, task, content, document, stored, sandboxFor, wholeOf } = fixture;
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
});
