import { outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { readTable } from "@income-events/local-stack/scenario/snapshot.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { eventually } from "../support/eventually.ts";
import { readMessages } from "../support/queues/subscriber-messages.ts";
import { type RunningProduct, startProduct } from "../support/running-product.ts";
import { waitUntilIdle } from "../support/wait-until-idle.ts";

const logLine = z.object({ code: z.string() }).loose();

/** The stack as it is synthesized, and a provider whose webhooks get lost. */
describe("reconciliation on the running system", () => {
  let product: RunningProduct;
  let system: System;

  beforeAll(async () => {
    const sandbox = { delivery: { firstRetryMs: 200 }, pageSize: 3 };
    product = await startProduct("local", {}, sandbox, {
      // Less than one call may take, so that a tick ends after each user: the run survives the function's time limit.
      change: (assembly) =>
        assembly.change(/^ReconcileUsersFunction[0-9A-F]{8}$/, (properties) => {
          properties.Timeout = 30;
        }),
    });
    ({ system } = product);
  });
  afterAll(async () => {
    await product?.[Symbol.asyncDispose]();
  });

  const tick = () => {
    const rule = system.stack.schedules.names.find((name) => name.includes("ReconcileSchedule"));
    return system.stack.schedules.fire(rule ?? "ReconcileSchedule");
  };
  const table = () => readTable(system.access, outputOf(system.stack, "TableName"));
  const reports = () => {
    const name = outputOf(system.stack, "ReconcileFunctionName");
    const lines = system.stack.functions.find((each) => each.name === name)?.log() ?? [];
    return lines
      .filter((line) => line.startsWith("{"))
      .map((line) => logLine.parse(JSON.parse(line)))
      .filter(({ code }) => code.startsWith("RECONCIL"));
  };
  const reconciledMessages = async () => {
    const everything = subscribersOf(system.stack).find(({ name }) => name === "everything");
    const messages = await readMessages(system.access, everything?.queueUrl ?? "");
    return messages.filter(({ data }) => "reconciled" in data);
  };

  it("finds what no webhook announced, passes it on as a webhook, and reports the drift", async () => {
    const { sandbox } = system;
    const announced = await sandbox.createUsers(2);
    await waitUntilIdle(system);
    const [disconnected = "", gone = ""] = announced.accounts;
    const missing = await sandbox.createUsers(2, { drop: true });
    sandbox.disconnectAccount(disconnected, { drop: true });
    sandbox.deleteAccount(gone, { drop: true });

    for (let ticks = 0; ticks < 4; ticks += 1) {
      expect(reports()).toEqual([]);
      await tick();
    }
    await eventually(() =>
      expect(reports()).toMatchObject([
        { code: "RECONCILED", listed: 4, missing: 4, conflicting: 1, orphaned: 1, drift: 6 },
      ]),
    );
    // Not due: no list is asked for. What was found is still being fetched meanwhile.
    const lists = () =>
      sandbox.calls().filter(({ method, path }) => method === "GET" && /\/(users|accounts)(\?|$)/.test(path));
    const asked = lists().length;
    expect(asked).toBeGreaterThan(0);
    await tick();
    expect(lists()).toHaveLength(asked);

    await waitUntilIdle(system);
    const { users, accounts, data } = await table();
    for (const user of missing.users) expect(users.has(user)).toBe(true);
    for (const account of missing.accounts) {
      expect(accounts.get(account)).toMatchObject({ connected: true, deleted: false });
      expect([...data].filter((name) => name.startsWith(account))).toHaveLength(3);
    }
    expect(accounts.get(disconnected)).toMatchObject({ connected: false, unconfirmed: false });
    expect(accounts.get(gone)).toMatchObject({ deleted: true, unconfirmed: false });

    const marked = new Set((await reconciledMessages()).map(({ type, subject }) => `${type} ${subject}`));
    expect([...marked].sort()).toEqual(
      [
        ...missing.users.map((id) => `user.created user/${id}`),
        ...missing.accounts.map((id) => `account.created account/${id}`),
        `account.updated account/${disconnected}`,
        `account.deleted account/${gone}`,
      ].sort(),
    );
    expect(system.stack.problems().denials).toEqual([]);
  });
});
