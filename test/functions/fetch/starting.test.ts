import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { requestFetchFor } from "../../../domain/fetch/document.ts";
import type { DateRange } from "../../../domain/fetch/document-name.ts";
import { readTaskText, startTask, verifyStartTask, writeTask } from "../../../domain/fetch/tasks.ts";
import type { State } from "../../../domain/state/state.ts";
import { describeOnTables } from "../../support/engines.ts";
import { fetcherFixture, noon, provider, readAfterSeconds, started } from "../support/fetcher-fixture.ts";

await describeOnTables("the fetcher", (tables) => {
  const fixture = fetcherFixture(tables);
  const { perform, codes, calls, deadLetters, put, postponed } = fixture;

  describe("starting an account's fetch", () => {
    beforeEach(() => put());

    test("calls the path of the settings with the body filled in", async () => {
      fixture.remote.answer = () => ({ status: 202, json: { ok: true } });
      expect(await perform(startTask(fixture.subject, 4), started)).toEqual([]);
      expect(fixture.remote.requests).toMatchObject([
        {
          method: "POST",
          path: `/accounts/${fixture.subject.id}/fetches`,
          body: '{"endpoints":["income","profile"]}',
          headers: { authorization: "Bearer jwt" },
        },
      ]);
      expect(codes()).toEqual(["TASK_DONE"]);
      expect(await fixture.table.items(`ACCOUNT#${fixture.subject.id}`)).toMatchObject([{ sk: "STATE" }]);
    });

    test.each([provider, started])("is void where the account was erased since (%#)", async (settings) => {
      fixture.subject = { kind: "account", id: randomUUID() };
      expect(await perform(startTask(fixture.subject, 4), settings)).toEqual([]);
      expect(codes()).toEqual(["TASK_VOID"]);
      expect(calls()).toEqual([]);
      expect(await fixture.table.items(`ACCOUNT#${fixture.subject.id}`)).toEqual([]);
    });

    test("goes straight to reading where no path is set: each endpoint is requested once", async () => {
      for (let time = 0; time < 2; time += 1)
        expect(await perform(startTask(fixture.subject, 4))).toEqual([]);
      expect(calls()).toEqual([]);
      for (const endpoint of ["income", "profile"]) {
        expect(await fixture.known.loadDocument(fixture.subject, { endpoint })).toMatchObject({
          version: 1,
          wanted: 1,
          done: 0,
        });
      }
      await perform(startTask(fixture.subject, 5));
      expect(await fixture.known.loadDocument(fixture.subject, { endpoint: "income" })).toMatchObject({
        version: 2,
        wanted: 2,
      });
    });

    test("of a company account is reading, whatever the path of accounts is", async () => {
      fixture.subject = { kind: "company-account", id: randomUUID() };
      await put();
      await perform(startTask(fixture.subject, 1), started);
      expect(calls()).toEqual([]);
      expect(await fixture.known.loadDocument(fixture.subject, { endpoint: "profile" })).toMatchObject({
        wanted: 1,
      });
    });

    test.each([404, 410])("of an account that the provider answers with %i is done", async (status) => {
      fixture.remote.answer = () => status;
      expect(await perform(startTask(fixture.subject, 1), started)).toEqual([]);
      expect(fixture.sent).toEqual([]);
      expect(codes()).toEqual(["TASK_DONE"]);
      expect(await deadLetters()).toEqual([]);
    });

    test("answered with 409 is done, and checked: it is not connected any more, or a fetch runs already", async () => {
      fixture.remote.answer = () => 409;
      expect(await perform(startTask(fixture.subject, 1), started)).toEqual([]);
      expect(codes()).toEqual(["TASK_DONE"]);
      expect(fixture.sent.map(({ body }) => readTaskText(body))).toMatchObject([
        { task: "check", version: 1 },
      ]);
      expect(await deadLetters()).toEqual([]);
    });
  });

  describe("a start that was called", () => {
    const connected = { version: 4, connected: true, unconfirmed: false };
    const due = new Date(noon.getTime() + readAfterSeconds * 1000);
    const requestedOf = async (endpoint: string) =>
      (await fixture.known.loadDocument(fixture.subject, { endpoint }))?.wanted ?? 0;
    const answer = (endpoint: string, mark: string, range?: DateRange) => {
      const name = range === undefined ? { endpoint } : { endpoint, range };
      return fixture.known.document(fixture.subject, name, (before) =>
        requestFetchFor(before, fixture.subject, name, { key: mark }),
      );
    };

    const cause = "the-event";
    /** Starts, lets something happen, and does what the fetcher sent itself when it is due. */
    async function startAndCheck(between: () => Promise<unknown> = async () => undefined): Promise<void> {
      await put(connected);
      fixture.remote.answer = () => ({ status: 202, json: {} });
      await perform(startTask(fixture.subject, 4, cause), started);
      const [check, ...others] = fixture.sent.splice(0);
      expect(others).toEqual([]);
      await between();
      fixture.clock = due;
      await perform(check?.body ?? "", started);
    }

    test("is checked when the time of the settings is over, by way of waits that SQS knows", async () => {
      fixture.remote.answer = () => ({ status: 202, json: {} });
      await put(connected);
      await perform(startTask(fixture.subject, 4), started);
      const wanted = { income: 0, profile: 0 };
      const check = verifyStartTask(fixture.subject, 4, wanted, { due });
      expect(fixture.sent).toEqual([{ body: writeTask(check), delayInSeconds: 900 }]);
      fixture.sent = [];
      fixture.clock = new Date(noon.getTime() + 900_000);
      expect(await postponed(check)).toEqual([{ task: check, delay: 900 }]);
      expect(await fixture.known.loadDocuments(fixture.subject)).toEqual([]);
    });

    test("and that nothing answered is read anyway, each endpoint once", async () => {
      await startAndCheck();
      expect([await requestedOf("income"), await requestedOf("profile")]).toEqual([1, 1]);
      expect(fixture.entries).toMatchObject([
        { code: "START_UNANSWERED", count: 2, correlationId: cause },
        { code: "TASK_DONE", correlationId: cause },
      ]);
      // What reads it then goes on under the id of the event that led to the start.
      const { latest } = (await fixture.known.loadDocument(fixture.subject, { endpoint: "income" })) ?? {};
      expect(latest).toEqual({ cause: "again", correlationId: cause });
      await perform(verifyStartTask(fixture.subject, 4, { income: 0, profile: 0 }, { due }), started);
      expect([await requestedOf("income"), await requestedOf("profile")]).toEqual([1, 1]);
      expect(codes()).toEqual(["TASK_VOID"]);
    });

    test("is read only where no event answered", async () => {
      await startAndCheck(() => answer("income", "event.1"));
      expect([await requestedOf("income"), await requestedOf("profile")]).toEqual([1, 1]);
      expect(fixture.entries).toMatchObject([{ code: "START_UNANSWERED", count: 1 }, { code: "TASK_DONE" }]);
    });

    test("is answered by an event with dates", async () => {
      await startAndCheck(() => answer("income", "event.1", { start: "2026-01-01", end: "2026-01-31" }));
      expect([await requestedOf("income"), await requestedOf("profile")]).toEqual([0, 1]);
    });

    test("is answered by an event that came before the call's own answer", async () => {
      await put(connected);
      fixture.remote.answer = async () => {
        await answer("income", "event.1");
        return { status: 202, json: {} };
      };
      await perform(startTask(fixture.subject, 4), started);
      fixture.clock = due;
      await perform(fixture.sent[0]?.body ?? "", started);
      expect([await requestedOf("income"), await requestedOf("profile")]).toEqual([1, 1]);
    });

    test("is not answered by events from before it", async () => {
      await answer("income", "event.1");
      await startAndCheck();
      expect(await requestedOf("income")).toBe(2);
    });

    test.each<[string, Partial<State>]>([
      ["disconnected", { connected: false }],
      ["deleted", { deleted: true }],
    ])("is forgotten where the account was %s since", async (_, facts) => {
      await startAndCheck(() =>
        fixture.known.state(fixture.subject, (state) => state && { ...state, ...facts, version: 5 }),
      );
      expect(await fixture.known.loadDocuments(fixture.subject)).toEqual([]);
      expect(codes()).toEqual(["TASK_VOID"]);
    });

    test("whose check can't be sent is started again", async () => {
      await put(connected);
      fixture.remote.answer = () => ({ status: 202, json: {} });
      const working = fixture.system.fail("sqs:SendMessageBatch");
      expect(await perform(startTask(fixture.subject, 4), started)).toHaveLength(1);
      working();
    });
  });
});
