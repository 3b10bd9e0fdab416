import { describe, expect, test } from "vitest";
import { describeOnTables } from "../../support/engines.ts";
import { fetcherFixture, noon } from "../support/fetcher-fixture.ts";

await describeOnTables("the fetcher", (tables) => {
  const fixture = fetcherFixture(tables);
  const { perform, performAgain, calls, codes, read, postponed } = fixture;
  const endpoints = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ endpoint: `endpoint-${index}` }));

  describe("the token", () => {
    test("that is revoked within a batch hides the remaining tasks, and requests one refresh", async () => {
      fixture.remote.answer = (_, count) => (count <= 5 ? { json: {} } : 401);
      const left = await perform(endpoints(10).map((name) => read(name)));
      const done = codes().filter((code) => code === "TASK_DONE");
      expect(done.length).toBeGreaterThan(0);
      expect(left).toHaveLength(10 - done.length);
      expect(postponed().every(({ delayInSeconds = 0 }) => delayInSeconds >= 60)).toBe(true);
      expect(fixture.refreshesAsked).toBe(1);

      // An operator's new token fixes it: the tasks continue by themselves.
      fixture.system.secrets.call("PutSecretValue", {
        SecretId: fixture.token,
        SecretString: '{"token":"set by hand"}',
      });
      fixture.remote.answer = ({ headers }) =>
        headers.authorization === "Bearer set by hand" ? { json: {} } : 401;
      // The tasks are hidden until then; the rate allows more calls.
      fixture.clock = new Date(noon.getTime() + 60_000);
      expect(await performAgain()).toMatchObject({ left: [] });
      expect(new Set(codes())).toEqual(new Set(["TASK_DONE"]));
      expect(await fixture.tasks.deadLetters()).toEqual([]);
    });

    test("that was replaced in the middle of a batch is read again: every task is done", async () => {
      fixture.remote.answer = ({ headers }, count) => {
        if (count === 3) {
          fixture.system.secrets.call("PutSecretValue", {
            SecretId: fixture.token,
            SecretString: '{"token":"next"}',
          });
        }
        return count < 3 || headers.authorization === "Bearer next" ? { json: {} } : 401;
      };
      await perform(endpoints(5).map((name) => read(name)));
      expect(codes()).toEqual(endpoints(5).map(() => "TASK_DONE"));
      expect(fixture.refreshesAsked).toBe(0);
    });

    test("that is missing or refused for ten days rejects no task", async () => {
      const tenDaysAgo = new Date(noon.getTime() - 10 * 86_400_000);
      fixture.token = fixture.system.createSecret({ placeholder: "x" });
      expect(await perform(read(), undefined, { receives: 900, sentAt: tenDaysAgo })).toHaveLength(1);
      expect(postponed()).toMatchObject([{ reason: "no token is set" }]);
      expect(calls()).toEqual([]);
      fixture.remote.answer = () => 401;
      fixture.token = fixture.system.createSecret({ token: "jwt" });
      expect((await performAgain(undefined, { receives: 989, sentAt: tenDaysAgo })).left).toHaveLength(1);
      expect(await fixture.tasks.deadLetters()).toEqual([]);
    });
  });
});
