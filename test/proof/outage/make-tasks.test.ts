import { endpointNames } from "@income-events/sandbox/endpoint-names.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { accountsNeeded, dealTasks } from "../../../proof/outage/make-tasks.ts";

it("the outage has as many tasks as are asked for, each of a different account or endpoint (law)", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_000 }), (tasks) => {
      const accounts = Array.from({ length: accountsNeeded(tasks) }, (_, index) => `a${index}`);
      const names = dealTasks(accounts, tasks).flatMap(({ accountId, endpoints }) =>
        endpoints.map((endpoint) => `${accountId}/${endpoint}`),
      );
      expect(names).toHaveLength(tasks);
      expect(new Set(names).size).toBe(tasks);
    }),
  );
});

it("the outage does not start with fewer tasks than are asked for", () => {
  const deal = () => dealTasks(["a0", "a1"], 2 * endpointNames.length + 1);
  expect(deal).toThrow(/^\d+ tasks need 3 accounts: there are 2\.$/);
});
