import { beforeEach, describe, expect, test } from "vitest";
import { readTask, readTaskText, type Task, writeTask } from "../../../domain/fetch/tasks.ts";
import { describeOnTables } from "../../support/engines.ts";
import { fetcherFixture } from "../support/fetcher-fixture.ts";

await describeOnTables("the fetcher", (tables) => {
  const fixture = fetcherFixture(tables);
  const { perform, calls, deadLetters, want: request, postponed } = fixture;

  describe("the token", () => {
    beforeEach(() => request("income"));

    test("that is missing makes tasks wait, and calls nobody", async () => {
      fixture.token = fixture.system.createSecret({ placeholder: "x" });
      expect(await postponed(readTask(fixture.subject, { endpoint: "income" }, 1))).toMatchObject([
        { delay: 90 },
      ]);
      expect(calls()).toEqual([]);
      expect(fixture.entries).toMatchObject([{ reason: "no token is set" }]);
    });

    test("that is refused twice makes tasks wait", async () => {
      fixture.remote.answer = () => 401;
      expect(await postponed(readTask(fixture.subject, { endpoint: "income" }, 1))).toMatchObject([
        { delay: 90 },
      ]);
      expect(calls()).toHaveLength(2);
      expect(fixture.entries).toMatchObject([{ reason: "the token was refused" }]);
    });

    test("that is revoked in the middle of a batch makes the rest wait, and one refresh is asked for", async () => {
      const endpoints = Array.from({ length: 10 }, (_, index) => `endpoint-${index}`);
      for (const endpoint of endpoints) await request(endpoint);
      const [first = "", ...others] = endpoints;
      for (const endpoint of others)
        await fixture.system.send(fixture.queueUrl, writeTask(readTask(fixture.subject, { endpoint }, 1)));
      fixture.remote.answer = (_, count) => (count <= 5 ? { json: {} } : 401);
      expect(await perform(readTask(fixture.subject, { endpoint: first }, 1))).toEqual([]);
      const done = fixture.entries.filter(({ code }) => code === "TASK_DONE");
      expect(done.length).toBeGreaterThan(0);
      expect(fixture.sent).toHaveLength(10 - done.length);
      expect(fixture.sent.every(({ delayInSeconds = 0 }) => delayInSeconds >= 60)).toBe(true);
      expect(fixture.refreshesAsked).toBe(1);

      // An operator's new token heals it: the tasks go on by themselves.
      fixture.system.secrets.call("PutSecretValue", {
        SecretId: fixture.token,
        SecretString: '{"token":"set by hand"}',
      });
      fixture.remote.answer = ({ headers }) =>
        headers.authorization === "Bearer set by hand" ? { json: {} } : 401;
      for (const { body } of [...fixture.sent]) {
        await perform(readTaskText(body));
        expect(fixture.entries).toMatchObject([{ code: "TASK_DONE" }]);
      }
      expect(await deadLetters()).toEqual([]);
    });

    test("that was replaced in the middle of a batch is read again: every task is done", async () => {
      const endpoints = Array.from({ length: 5 }, (_, index) => `endpoint-${index}`);
      for (const endpoint of endpoints) await request(endpoint);
      const [first = "", ...others] = endpoints;
      for (const endpoint of others)
        await fixture.system.send(fixture.queueUrl, writeTask(readTask(fixture.subject, { endpoint }, 1)));
      fixture.remote.answer = ({ headers }, count) => {
        if (count === 3) {
          fixture.system.secrets.call("PutSecretValue", {
            SecretId: fixture.token,
            SecretString: '{"token":"next"}',
          });
        }
        return count < 3 || headers.authorization === "Bearer next" ? { json: {} } : 401;
      };
      await perform(readTask(fixture.subject, { endpoint: first }, 1));
      expect(fixture.entries.map(({ code }) => code)).toEqual(endpoints.map(() => "TASK_DONE"));
      expect(fixture.refreshesAsked).toBe(0);
    });

    test("that is neither set nor accepted for long gives no task up: waiting is no attempt", async () => {
      fixture.token = fixture.system.createSecret({ placeholder: "x" });
      const task: Task = { ...readTask(fixture.subject, { endpoint: "income" }, 1), attempts: 3 };
      const failing: Task = { ...task, since: "2026-01-01T00:00:00.000Z" };
      await perform(failing);
      fixture.remote.answer = () => 401;
      fixture.token = fixture.system.createSecret({ token: "jwt" });
      await perform(failing);
      expect(await deadLetters()).toEqual([]);
      // An outage ends where something else is waited for.
      expect(fixture.sent.map(({ body }) => readTaskText(body))).toEqual([task, task]);
    });

    test("neither it nor what was read shows in the log", async () => {
      fixture.remote.answer = () => ({ json: { personal: "canary" } });
      await perform(readTask(fixture.subject, { endpoint: "income" }, 1, "the-event"));
      expect(JSON.stringify(fixture.entries)).not.toMatch(/canary|jwt/);
      const line = { code: "TASK_DONE", task: "read", subject: `account/${fixture.subject.id}` };
      expect(fixture.entries).toEqual([{ ...line, correlationId: "the-event" }]);
      const { latest } = (await fixture.known.loadDocument(fixture.subject, { endpoint: "income" })) ?? {};
      expect(latest).toMatchObject({ cause: "answer", correlationId: "the-event" });
    });
  });
});
