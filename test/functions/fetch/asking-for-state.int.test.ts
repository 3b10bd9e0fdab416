import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Subject } from "../../../domain/event/subjects.ts";
import { type StateTask, stateTask } from "../../../domain/fetch/task.ts";
import type { State } from "../../../domain/state/state.ts";
import { describeOnTables } from "../../support/engines.ts";
import { fetcherFixture, noon } from "../support/fetcher-fixture.ts";
import { provider } from "../support/fetcher-settings.ts";

const fetchState = (subject: Subject, version: number) => stateTask("fetchState", subject, version, {});

await describeOnTables("the fetcher", (tables) => {
  const fixture = fetcherFixture(tables);
  const { fetcherOf, seenNow, perform, codes, calls, put } = fixture;
  const deadLetters = () => fixture.tasks.deadLetters();

  describe("asking for a state", () => {
    test.each<[string, unknown, Partial<State>]>([
      ["connected", { id: "x", connected: true }, { connected: true, deleted: false }],
      ["disconnected", { connected: false }, { connected: false, deleted: false }],
      ["connected, under data", { data: { connected: true } }, { connected: true, deleted: false }],
    ])("writes that it is %s, and confirms it", async (_, json, facts) => {
      await put({ version: 3, connected: false });
      fixture.remote.answer = () => ({ json });
      expect(await perform(fetchState(fixture.subject, 3))).toEqual([]);
      expect(calls()).toEqual([`GET /accounts/${fixture.subject.id}`]);
      expect(await fixture.known.loadState(fixture.subject)).toMatchObject({
        version: 4,
        unconfirmed: false,
        latest: { cause: "answer", at: noon.toISOString() },
        ...facts,
      });
    });

    test.each([
      ["at the top", { id: "u", metadata: { loan_id: 7 } }, { loanId: "7" }, 4],
      ["under data", { data: { id: "u", metadata: { loan_id: "7" } } }, { loanId: "7" }, 4],
      ["empty", { id: "u", metadata: {} }, {}, 4],
      ["not there", { id: "u" }, { loanId: "sent last" }, 1],
    ])("about a user decides its attributes, which the answer has %s", async (_, json, values, version) => {
      const subject = { kind: "user", id: "u" } as const;
      const attributes = { values: { loanId: "sent last" }, version: 1, since: 1 };
      await put({ subject, version: 3, attributes });
      fixture.remote.answer = () => ({ json });
      await fixture.tasks.send([fetchState(subject, 3)]);
      const mapped = { ...provider, paths: { ...provider.paths, user: "/users/{user_id}" } };
      const handler = fetcherOf(mapped, { attributes: { loanId: "metadata.loan_id" } });
      expect(await fixture.tasks.deliver(handler, seenNow())).toMatchObject({ left: [] });
      expect(await fixture.known.loadState(subject)).toMatchObject({
        ...{ version: 4, unconfirmed: false },
        attributes: { values, version },
      });
    });

    test.each([
      [404, "calls again later if no event announced a deletion", {}, { deleted: false, version: 1 }],
      [
        410,
        "writes that it is deleted, as an event announced",
        { deletionBy: "webhook" as const },
        { deleted: true, version: 2 },
      ],
    ])("answered with %i %s", async (status, _, announced, facts) => {
      await put({ connected: true, ...announced });
      fixture.remote.answer = () => status;
      await perform(fetchState(fixture.subject, 1));
      expect(codes()).toEqual([facts.deleted ? "TASK_DONE" : "TASK_POSTPONED"]);
      expect(await fixture.known.loadState(fixture.subject)).toMatchObject({
        ...facts,
        unconfirmed: !facts.deleted,
      });
    });

    test.each([
      ["user", "/users/"],
      ["company-account", "/company/"],
    ] as const)("of a %s calls its own path", async (kind, path) => {
      fixture.subject = { kind, id: randomUUID() };
      await put();
      fixture.remote.answer = () => ({ json: {} });
      await perform(fetchState(fixture.subject, 1));
      expect(calls()).toEqual([`GET ${path}${fixture.subject.id}`]);
    });

    test("of a user without a path in the settings is skipped, and the state stays unconfirmed", async () => {
      fixture.subject = { kind: "user", id: randomUUID() };
      await put();
      const { user: _, ...paths } = provider.paths;
      expect(await perform(fetchState(fixture.subject, 1), { ...provider, paths })).toEqual([]);
      expect(calls()).toEqual([]);
      expect(await fixture.known.loadState(fixture.subject)).toMatchObject({ unconfirmed: true, version: 1 });
    });

    test("for an outdated version is skipped", async () => {
      await put({ version: 2 });
      expect(await perform(fetchState(fixture.subject, 1))).toEqual([]);
      expect(calls()).toEqual([]);
      expect(codes()).toEqual(["TASK_SKIPPED"]);
    });

    describe("by two tasks, with the first answered last,", () => {
      /** The provider answers "not connected" and then "connected"; the older answer arrives last. */
      async function answerInOppositeOrder(later: StateTask, between: () => Promise<void>): Promise<void> {
        const firstAsked = Promise.withResolvers<void>();
        const secondIsWritten = Promise.withResolvers<void>();
        fixture.remote.answer = async () => {
          if (fixture.remote.requests.length > 1) return { json: { connected: true } };
          firstAsked.resolve();
          await secondIsWritten.promise;
          return { json: { connected: false } };
        };
        await fixture.tasks.send([fetchState(fixture.subject, 1)]);
        const patiently = {
          ...provider,
          timeouts: { connectSeconds: 60, headersSeconds: 60, bodySeconds: 60 },
        };
        const first = fixture.tasks.deliver(fetcherOf(patiently), seenNow());
        await firstAsked.promise;
        await between();
        expect(await perform(later)).toEqual([]);
        expect(await fixture.known.loadState(fixture.subject)).toMatchObject({
          connected: true,
          unconfirmed: false,
        });
        secondIsWritten.resolve();
        expect(await first).toMatchObject({ left: [] });
      }

      test("keeps the later answer if an event came between them", async () => {
        await put({ connected: true });
        await answerInOppositeOrder(fetchState(fixture.subject, 2), async () => {
          await fixture.known.reviseState(fixture.subject, (state) => state && { ...state, version: 2 });
        });
        expect(await fixture.known.loadState(fixture.subject)).toMatchObject({
          version: 3,
          connected: true,
          unconfirmed: false,
        });
      });

      test("keeps the later answer if SQS delivered one task twice", async () => {
        await put({ connected: true });
        await answerInOppositeOrder(
          { ...fetchState(fixture.subject, 1), cause: "again" },
          async () => undefined,
        );
        expect(await fixture.known.loadState(fixture.subject)).toMatchObject({
          version: 2,
          connected: true,
          unconfirmed: false,
        });
      });
    });

    test.each([
      ["a list", "[]", "the provider's answer: expected an object"],
      ["null", "null", "the provider's answer: expected an object"],
      ["no connected", '{"id":"x"}', expect.stringContaining("no connected")],
    ])("answered with %s goes to the dead-letter queue, and confirms nothing", async (_, text, reason) => {
      await put();
      fixture.remote.answer = () => ({ text });
      await perform(fetchState(fixture.subject, 1));
      expect(await deadLetters()).toMatchObject([{ reason }]);
      expect(await fixture.known.loadState(fixture.subject)).toMatchObject({
        unconfirmed: true,
        version: 1,
      });
    });
  });
});
