import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { outputOf } from "../../local/outputs.ts";
import { readTable } from "../../local/scenario/census.ts";
import { type System, startSystem } from "../../local/system.ts";
import { type ProductAssembly, synthesizeProduct } from "../support/product-assembly.ts";

/** Bodies of accounts carry neither id nor time here: what they say can be a late retry or a true repeat. */
describe("account events without id and time, against the provider's truth", () => {
  let product: ProductAssembly;
  let system: System;
  beforeAll(async () => {
    product = await synthesizeProduct();
    system = await startSystem(
      {
        once: true,
        users: 1,
        stage: "local",
        assembly: product.directory,
        apiPort: 0,
        awsPort: 0,
        sandboxPort: 0,
      },
      { delivery: { firstRetryMs: 200 } },
      () => undefined,
      () => undefined,
    );
  });
  afterAll(async () => {
    await system.close();
    await product[Symbol.asyncDispose]();
  });

  const settled = async () => {
    await system.sandbox.settled();
    await system.stack.drained({ deadline: 30_000 });
  };
  const connectedAccount = async () => {
    const { accounts } = await system.sandbox.createUsers(1);
    await settled();
    return accounts[0] ?? "";
  };
  const stateOf = async (accountId: string) => {
    const table = await readTable(system.access, outputOf(system.stack, "TableName"));
    return table.accounts.get(accountId);
  };
  const bodyOf = (accountId: string) => {
    const account = system.sandbox.snapshot().accounts.find(({ id }) => id === accountId);
    return { event: "connect_account", account_id: accountId, user_id: account?.userId, connected: true };
  };

  it("connect, disconnect and connect again with the same bytes ends connected", async () => {
    const { sandbox } = system;
    const accountId = await connectedAccount();
    sandbox.disconnectAccount(accountId);
    await settled();
    expect(await stateOf(accountId)).toMatchObject({ connected: false, unconfirmed: false });

    // Its payload is the first one's to the byte.
    sandbox.reconnectAccount(accountId);
    await settled();

    expect(await stateOf(accountId)).toMatchObject({ connected: true, unconfirmed: false, deleted: false });
  }, 60_000);

  it("a late retry of the connect after a disconnect ends as the provider says", async () => {
    const { sandbox } = system;
    const accountId = await connectedAccount();
    sandbox.fireEvent("accounts", bodyOf(accountId));
    sandbox.disconnectAccount(accountId);
    await settled();

    sandbox.fireEvent("accounts", bodyOf(accountId), { times: 3 });
    await settled();

    expect(await stateOf(accountId)).toMatchObject({ connected: false, unconfirmed: false, deleted: false });
  }, 60_000);

  it("a late retry that was never received before ends as the provider says", async () => {
    const { sandbox } = system;
    const accountId = await connectedAccount();
    sandbox.disconnectAccount(accountId);
    await settled();

    sandbox.fireEvent("accounts", bodyOf(accountId));
    await settled();

    expect(await stateOf(accountId)).toMatchObject({ connected: false, unconfirmed: false, deleted: false });
  }, 60_000);

  it("a deletion is believed after the provider confirmed it, and nothing brings the account back", async () => {
    const { sandbox } = system;
    const accountId = await connectedAccount();
    const late = bodyOf(accountId);
    sandbox.deleteAccount(accountId);
    await settled();
    expect(await stateOf(accountId)).toMatchObject({ deleted: true, unconfirmed: false });

    sandbox.fireEvent("accounts", late, { times: 2 });
    await settled();

    expect(await stateOf(accountId)).toMatchObject({ deleted: true, unconfirmed: false });
  }, 60_000);
});
