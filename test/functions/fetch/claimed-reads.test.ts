import { describe, expect, test } from "vitest";
import { dataClaims } from "../../../adapters/dynamodb/claims.ts";
import { requestFetchFor } from "../../../domain/fetch/document.ts";
import { readTask, writeTask } from "../../../domain/fetch/tasks.ts";
import { describeOnTables } from "../../support/engines.ts";
import { claimLifetime, fetcherFixture, noon } from "../support/fetcher-fixture.ts";
import { deliver } from "../support/lambda.ts";

await describeOnTables("the fetcher", (tables) => {
  const fixture = fetcherFixture(tables);
  const { fetcherOf, perform, codes, calls, want: request, content } = fixture;

  describe("reading an endpoint", () => {
    const text = '{"amount": 12345678901234567890.10}';

    test("that others want too calls once: they wait for the claim to end, and are void then", async () => {
      await request("income", { wanted: 2 });
      fixture.remote.answer = () => ({ text });
      const tasks = [1, 2, 2].map((wanted) => readTask(fixture.subject, { endpoint: "income" }, wanted));
      for (const task of tasks) await fixture.system.send(fixture.queueUrl, writeTask(task));
      await deliver(fixture.system, fixture.queueUrl, fetcherOf());
      expect(calls()).toHaveLength(1);
      expect(codes().toSorted()).toEqual(["TASK_DONE", "TASK_POSTPONED", "TASK_POSTPONED"]);
      expect(fixture.entries.filter(({ code }) => code === "TASK_POSTPONED")).toMatchObject([
        { reason: "another task reads this data" },
        { reason: "another task reads this data" },
      ]);
      for (const task of tasks) await perform(task);
      expect(calls()).toHaveLength(1);
      expect(await fixture.known.loadDocument(fixture.subject, { endpoint: "income" })).toMatchObject({
        version: 2,
        done: 2,
      });
    });

    test("that another began and died over is read when the dead one's claim has ended", async () => {
      await request("income");
      const claim = dataClaims(fixture.system.dynamodb, fixture.table.name, claimLifetime, () => noon);
      await claim(fixture.subject, { endpoint: "income" }, 1, noon);
      fixture.remote.answer = () => ({ text });
      await perform(readTask(fixture.subject, { endpoint: "income" }, 1));
      expect(calls()).toEqual([]);
      fixture.clock = new Date(noon.getTime() + claimLifetime * 1000);
      await perform(readTask(fixture.subject, { endpoint: "income" }, 1));
      expect(calls()).toHaveLength(1);
      expect(await content()).toMatchObject({ content: text });
    });

    test("that looked while another still called waits, though the claim ends before it comes to claim", async () => {
      await request("income");
      const claim = dataClaims(fixture.system.dynamodb, fixture.table.name, claimLifetime, () => noon);
      await claim(fixture.subject, { endpoint: "income" }, 1, noon);
      let reads = 0;
      const working = fixture.system.intercept(async ({ action }, phase) => {
        if (action === "dynamodb:GetItem" && phase === "after") reads += 1;
        // The first read is the breaker's, the second looks at the document.
        if (reads === 2) fixture.clock = new Date(noon.getTime() + claimLifetime * 1000);
        return undefined;
      });
      await perform(readTask(fixture.subject, { endpoint: "income" }, 1));
      working();
      expect(calls()).toEqual([]);
      expect(codes()).toEqual(["TASK_POSTPONED"]);
    });

    test("that is requested for newer data too calls for that at once", async () => {
      await request("income");
      fixture.remote.answer = async (_, count) => {
        if (count > 1) return { text };
        await fixture.known.document(fixture.subject, { endpoint: "income" }, (document) =>
          requestFetchFor(document, fixture.subject, { endpoint: "income" }, { key: "newer" }),
        );
        await perform(readTask(fixture.subject, { endpoint: "income" }, 2));
        return { json: "older" };
      };
      await perform(readTask(fixture.subject, { endpoint: "income" }, 1));
      expect(calls()).toHaveLength(2);
      expect(await content()).toMatchObject({ content: text, done: 2 });
    });

    test("that failed gives its claim back: the next attempt need not wait", async () => {
      await request("income");
      for (const answer of [503, { text: "<html>" }, { text }] as const) {
        fixture.remote.answer = () => answer;
        await perform(readTask(fixture.subject, { endpoint: "income" }, 1));
      }
      expect(calls()).toHaveLength(3);
      expect(await content()).toMatchObject({ content: text });
    });
  });
});
