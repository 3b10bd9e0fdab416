import { DeleteObjectCommand } from "@aws-sdk/client-s3";
import { describe, expect, test } from "vitest";
import { waiting } from "../../../domain/core/failures.ts";
import { readTask, type Task } from "../../../domain/fetch/tasks.ts";
import { describeOnTables } from "../../support/engines.ts";
import { callsOf, income, listFixture, noon, settings } from "../support/list-fixture.ts";

await describeOnTables("reading a list", (tables) => {
  const fixture = listFixture(tables);
  const { run, want: request, doneOf, stored, sandboxFor, wholeOf } = fixture;

  describe("that the sandbox pages", () => {
    test("follows it to its end, and stores what one page would have held", async () => {
      const sandbox = await sandboxFor({ pageSize: 3 });
      expect(await run(sandbox, [readTask(fixture.subject, income, 1)])).toEqual({ sent: [], reasons: [] });
      expect(callsOf(sandbox)).toEqual([200, 200, 200]);
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
      expect(fixture.entries).toMatchObject([{ code: "TASK_DONE" }]);
      expect(await fixture.bucket.keys()).toEqual([]);
    });

    test("asks for pages of the size that the settings say", async () => {
      const sandbox = await sandboxFor();
      const paging = { ...settings.paging, pageSize: { parameter: "limit", items: 2 } };
      await run(sandbox, [readTask(fixture.subject, income, 1)], { others: { paging } });
      expect(callsOf(sandbox)).toEqual([200, 200, 200, 200]);
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test("leaves a whole answer as it is, byte for byte", async () => {
      const sandbox = await sandboxFor();
      await run(sandbox, [readTask(fixture.subject, income, 1)]);
      expect(callsOf(sandbox)).toEqual([200]);
      expect(await stored()).toBe(JSON.stringify(sandbox.data(fixture.subject.id, "income")));
    });

    test("finds lists and cursors under other names", async () => {
      const sandbox = await sandboxFor({ pageSize: 3 });
      sandbox.shape("data-answer", { results: { rows: "{{data}}" }, meta: { after: "{{next}}" } });
      const paging = { ...settings.paging, items: "results.rows", next: "meta.after" };
      await run(sandbox, [readTask(fixture.subject, income, 1)], { others: { paging } });
      const { data } = wholeOf(sandbox);
      expect(JSON.parse((await stored()) ?? "")).toEqual({ results: { rows: data }, meta: { after: null } });
    });

    test("of which a page fails goes on from there: no page is read twice", async () => {
      const sandbox = await sandboxFor({ pageSize: 2 });
      // The third of the next calls.
      sandbox.fault({ path: "/income", status: 503, share: 1 / 3, times: 1 });
      const first = await run(sandbox, [readTask(fixture.subject, income, 1)]);
      expect(first.reasons).toEqual([]);
      expect(first.sent).toMatchObject([{ attempts: 1, since: noon.toISOString(), progress: { noted: 1 } }]);
      expect(await stored()).toBeUndefined();
      // An erasure finds them by their subject.
      expect(await fixture.bucket.keys()).toEqual([
        expect.stringMatching(new RegExp(`^pages/account/${fixture.subject.id}/income/.+\\.gz$`)),
      ]);
      expect(await run(sandbox, first.sent)).toEqual({ sent: [], reasons: [] });
      expect(callsOf(sandbox)).toEqual([200, 200, 503, 200, 200]);
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test("of which a page fails again and again keeps its place, and stores nothing twice", async () => {
      const sandbox = await sandboxFor({ pageSize: 4 });
      sandbox.fault({ path: "/income", status: 503, share: 1 / 2, times: 1 });
      const { sent } = await run(sandbox, [readTask(fixture.subject, income, 1)]);
      const puts = () =>
        [...fixture.system.calls()].flatMap(([name, count]) =>
          name.includes("s3:PutObject") ? [count] : [],
        );
      const before = puts();
      sandbox.fault({ path: "/income", status: 503 });
      const again = await run(sandbox, sent);
      expect(again).toEqual({ sent: [expect.objectContaining({ attempts: 2 })], reasons: [] });
      expect(puts()).toEqual(before);
      await run(sandbox, again.sent);
      expect(callsOf(sandbox)).toEqual([200, 503, 503, 200]);
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test("goes on in further runs where the time of one is over, which is no attempt", async () => {
      const sandbox = await sandboxFor({ pageSize: 2 });
      let tasks: readonly Task[] = [readTask(fixture.subject, income, 1)];
      // Enough for the call that is under way, and for none more.
      const timeLeft = () => 12_999;
      for (let runs = 1; runs <= 3; runs += 1) {
        const { sent } = await run(sandbox, tasks, { timeLeft });
        expect(sent).toMatchObject([{ attempts: 0, progress: { from: { pages: runs } } }]);
        expect(fixture.entries).toMatchObject([{ code: "TASK_POSTPONED", reason: "more pages are left" }]);
        tasks = sent;
      }
      expect(await run(sandbox, tasks, { timeLeft })).toEqual({ sent: [], reasons: [] });
      expect(callsOf(sandbox)).toEqual([200, 200, 200, 200]);
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test("goes on later where the rate is used up in the middle, which is no attempt", async () => {
      const sandbox = await sandboxFor({ pageSize: 3 });
      let permits = 2;
      const permit = () => {
        permits -= 1;
        if (permits < 0) throw waiting("the rate", 30);
      };
      const { sent } = await run(sandbox, [readTask(fixture.subject, income, 1)], { permit });
      expect(sent).toMatchObject([{ attempts: 0, progress: { from: { pages: 2 } } }]);
      await run(sandbox, sent);
      expect(callsOf(sandbox)).toEqual([200, 200, 200]);
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test("begins again where what was kept is gone, which is an attempt", async () => {
      const sandbox = await sandboxFor({ pageSize: 4 });
      const { sent } = await run(sandbox, [readTask(fixture.subject, income, 1)], { timeLeft: () => 9_000 });
      for (const Key of await fixture.bucket.keys()) {
        await fixture.system.s3.send(new DeleteObjectCommand({ Bucket: fixture.bucket.name, Key }));
      }
      const again = await run(sandbox, sent);
      expect(again.sent).toEqual([expect.objectContaining({ attempts: 1 })]);
      expect(again.sent[0]).not.toHaveProperty("progress");
      expect(await run(sandbox, again.sent)).toEqual({ sent: [], reasons: [] });
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test.each([400, 404, 410])(
      "begins again where the provider answers %i to a cursor, which is an attempt",
      async (status) => {
        const sandbox = await sandboxFor({ pageSize: 4 });
        sandbox.fault({ path: "/income", status, share: 1 / 2, times: 1 });
        const { sent, reasons } = await run(sandbox, [readTask(fixture.subject, income, 1)]);
        expect(reasons).toEqual([]);
        expect(sent).toEqual([expect.objectContaining({ attempts: 1 })]);
        expect(sent[0]).not.toHaveProperty("progress");
        expect(await stored()).toBeUndefined();
        await run(sandbox, sent);
        expect(callsOf(sandbox)).toEqual([200, status, 200, 200]);
        expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
      },
    );

    test("is read again from the start where its pages can't be kept", async () => {
      const sandbox = await sandboxFor({ pageSize: 4 });
      sandbox.fault({ path: "/income", status: 503, share: 1 / 2, times: 1 });
      const working = fixture.system.fail("s3:PutObject");
      const { sent } = await run(sandbox, [readTask(fixture.subject, income, 1)]);
      working();
      expect(sent).toEqual([
        { ...readTask(fixture.subject, income, 1), attempts: 1, since: noon.toISOString() },
      ]);
      await run(sandbox, sent);
      expect(JSON.parse((await stored()) ?? "")).toEqual(wholeOf(sandbox));
    });

    test("whose pages can't be kept when its time is over is tried again, which is an attempt", async () => {
      const sandbox = await sandboxFor({ pageSize: 4 });
      const working = fixture.system.fail("s3:PutObject");
      const { sent } = await run(sandbox, [readTask(fixture.subject, income, 1)], { timeLeft: () => 9_000 });
      working();
      expect(sent).toEqual([
        { ...readTask(fixture.subject, income, 1), attempts: 1, since: noon.toISOString() },
      ]);
    });

    test("leaves to the next read what was requested while it was read", async () => {
      const sandbox = await sandboxFor({ pageSize: 4 });
      const { sent } = await run(sandbox, [readTask(fixture.subject, income, 1)], { timeLeft: () => 9_000 });
      await request(2);
      await run(sandbox, sent);
      expect(await doneOf()).toBe(1);
      await run(sandbox, [readTask(fixture.subject, income, 2)]);
      expect(await doneOf()).toBe(2);
      expect(callsOf(sandbox)).toEqual([200, 200, 200, 200]);
    });

    test("that another read has overtaken is not read on", async () => {
      const sandbox = await sandboxFor({ pageSize: 4 });
      const { sent } = await run(sandbox, [readTask(fixture.subject, income, 1)], { timeLeft: () => 9_000 });
      await run(sandbox, [readTask(fixture.subject, income, 1)]);
      await run(sandbox, sent);
      expect(fixture.entries).toMatchObject([{ code: "TASK_VOID" }]);
      expect(callsOf(sandbox)).toEqual([200, 200, 200]);
    });
  });
});
