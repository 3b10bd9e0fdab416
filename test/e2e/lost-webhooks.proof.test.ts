import { setTimeout as wait } from "node:timers/promises";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectationOf, findLosses } from "../../proof/scenario/compare.ts";
import { readTable } from "../../proof/scenario/snapshot.ts";
import { eventually, waitUntilIdle } from "../support/eventually.ts";
import { type RunningProduct, startProduct } from "../support/running-product.ts";

/** A minute of provider and pipeline takes five seconds here; functions take their normal time. */
const divideDurationsBy = 12;
const minute = 60_000 / divideDurationsBy;
const changes = {
  divideDurationsBy,
  provider: {
    interface: "0.5",
    environment: "sandbox",
    baseUrls: { sandbox: "http://127.0.0.1:4010" },
    paths: {
      user: "/api/v0.5/users/{user_id}",
      userAccounts: "/api/v0.5/users/{user_id}/accounts",
      start: {
        method: "POST",
        path: "/api/v0.5/accounts/{account_id}/fetches",
        body: { endpoints: "{endpoints}" },
      },
    },
    requestsPerMinute: 60_000,
    timeouts: { connectSeconds: 5, headersSeconds: 5, bodySeconds: 5 },
    allowPrivateAddresses: true,
  },
  startEndpoints: ["profile", "income"],
  reconcile: { graceMinutes: 15 },
  functions: {},
};

describe("a provider that tries three times, and receivers that are away for ten minutes", () => {
  let product: RunningProduct;
  beforeAll(async () => {
    product = await startProduct("local", changes, {
      interface: "0.5",
      delivery: { firstRetryMs: minute / 2, timeoutMs: 60_000 },
    });
  });
  afterAll(() => product?.[Symbol.asyncDispose]());

  it("the pipeline matches the provider a quarter of an hour after they are back", async () => {
    const { system } = product;
    const { sandbox, stack, access } = system;
    const before = await sandbox.createUsers(6);
    await waitUntilIdle(system);
    const back = stack.gateway.intercept(async ({ principal, action }, phase) =>
      /Receive/.test(principal) && action === "sqs:SendMessage" && phase === "before"
        ? { status: 503, errorType: "ServiceUnavailable", message: "injected by the test" }
        : undefined,
    );
    const [first = "", second = "", third = ""] = before.accounts;
    await sandbox.createUsers(4);
    sandbox.createAccount(before.users[0] ?? "");
    sandbox.disconnectAccount(first);
    sandbox.fetchData(second, ["income", "profile"]);
    await wait(5 * minute);
    sandbox.fetchData(third, ["income"]);
    await wait(5 * minute);
    back();
    const backAt = performance.now();
    const lost = sandbox.deliveries({ status: "given-up" });
    expect(lost.length).toBeGreaterThan(10);
    expect(lost.map(({ attempts }) => attempts)).toEqual(lost.map(() => 3));
    await eventually(async () => {
      const table = await readTable(access, outputOf(stack, "TableName"));
      const expected = expectationOf(sandbox, {});
      const found = { table, messages: new Map(), deadLetters: [] };
      expect(findLosses(expected, found, [])).toEqual([]);
    }, 250);
    expect((performance.now() - backAt) / minute).toBeLessThan(15);
    await waitUntilIdle(system);
    const logs = stack.functions.map(({ log }) => log()).join("\n");
    expect(logs.match(/WEBHOOKS_MAY_BE_LOST/g)).toHaveLength(1);
  });
});
