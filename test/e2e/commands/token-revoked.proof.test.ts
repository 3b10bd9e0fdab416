import { outputOf } from "@income-events/local-stack/outputs.ts";
import { readTable } from "@income-events/local-stack/scenario/snapshot.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { type RunningProduct, startProduct } from "../../support/running-product.ts";
import { waitUntilIdle } from "../../support/wait-until-idle.ts";

/** A process that knows a token to be of no use spares calls for a minute: so long this takes. */
describe("the token of a running system", () => {
  let product: RunningProduct;
  beforeAll(async () => {
    const sandbox = { delivery: { firstRetryMs: 200 }, tokenLifetimeSeconds: 7_200, refreshEndsToken: true };
    product = await startProduct("local", {}, sandbox);
  });
  afterAll(() => product?.[Symbol.asyncDispose]());

  it("that is revoked lets tasks wait, asks for one refresh, and is replaced by an operator's new one", async () => {
    const { system } = product;
    const { sandbox, stack } = system;
    const set = (token: string) =>
      stack.setSecret(outputOf(stack, "TokenSecretArn"), JSON.stringify({ token }));
    const refreshes = () => sandbox.calls().filter(({ path }) => path.endsWith("/token/refresh")).length;
    const runs = () =>
      stack.functions.find(({ name }) => name === outputOf(stack, "RefreshFunctionName"))?.counts()
        .invocations ?? 0;
    await set(await sandbox.issueToken());
    const before = { refreshes: refreshes(), runs: runs() };
    sandbox.endTokens("revoked");
    const { accounts } = await sandbox.createUsers(5);
    // Every start is refused, in several processes; the refresher is woken once, and is refused as well.
    await eventually(() => expect(refreshes() - before.refreshes).toBe(1));
    await eventually(() => {
      const waiting = stack.functions
        .flatMap(({ log }) => log())
        .filter((line) => /the token was refused/.test(line));
      expect(waiting.length).toBeGreaterThanOrEqual(accounts.length);
    });
    expect(runs() - before.runs).toBe(1);

    await set(await sandbox.issueToken());
    await waitUntilIdle(system);
    const table = await readTable(system.access, outputOf(stack, "TableName"));
    for (const account of accounts)
      expect([...table.data].filter((name) => name.startsWith(account))).toHaveLength(3);
    expect(refreshes() - before.refreshes).toBe(1);
    expect(stack.problems().denials).toEqual([]);
  });
});
