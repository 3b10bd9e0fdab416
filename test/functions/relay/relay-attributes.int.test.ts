import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { writeChange } from "../../../adapters/aws/relay-invoker.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { documentRead } from "../../domain/samples.ts";
import { describeOnTables } from "../../support/engines.ts";
import { accountEvent, relayFixture } from "../support/relay-fixture.ts";
import { allDone } from "../support/relayed-records.ts";

await describeOnTables("attributes of users", (tables) => {
  const fixture = relayFixture(tables);
  const { record, relayed, invoke, pump, tasks, messages } = fixture;
  let [userId, accountId, other] = ["", "", ""];

  beforeEach(() => {
    fixture.attributes = { asks: true };
    [userId, accountId, other] = [randomUUID(), randomUUID(), randomUUID()];
  });

  const userEvent = (attributes: IncomeEvent["attributes"], more: Partial<IncomeEvent> = {}): IncomeEvent => {
    const { accountId: _, ...event } = accountEvent({ kind: "users", type: "user.updated", ...more });
    return { ...event, userId: more.userId ?? userId, ...(attributes && { attributes }) };
  };
  const news = (more: Partial<IncomeEvent> = {}) =>
    accountEvent({ accountId, kind: "endpoints", type: "endpoint.updated", endpoint: "income", ...more });
  const sent = async () => {
    const all = await messages(fixture.subscribers.everything.queueUrl);
    return all.map(({ type, data }) => ({
      type,
      ...("attributes" in data && { attributes: data.attributes }),
    }));
  };
  const reads = () => ({
    requests: fixture.system.calls().get("test dynamodb:BatchGetItem") ?? 0,
    units: fixture.system.capacity().get("test dynamodb:BatchGetItem")?.readUnits ?? 0,
  });
  /**
   * Relays one record.
   * @returns the capacity of its reads
   */
  const relayOne = async (index: number) => {
    const records = (await relayed()).slice(index, index + 1);
    const before = reads();
    expect(await invoke(records)).toEqual(allDone);
    const after = reads();
    return { requests: after.requests - before.requests, units: after.units - before.units };
  };

  test("are in the messages about the user, its accounts and their data, with the version that set them", async () => {
    const attributes = { loanId: "L-1" };
    await record(userEvent(attributes, { type: "user.created" }));
    const before = await pump();
    await record(
      accountEvent({ accountId, userId }),
      accountEvent({
        companyAccountId: other,
        userId,
        kind: "company-accounts",
        type: "company-account.connected",
      }),
      news({ userId }),
    );
    await pump(before);
    const all = await messages(fixture.subscribers.everything.queueUrl);
    expect(all.map(({ type }) => type).toSorted()).toEqual([
      "account.connected",
      "company-account.connected",
      "endpoint.updated",
      "user.created",
    ]);
    for (const { data } of all)
      expect(data).toMatchObject({ attributes, attributesSequence: "1".padStart(20, "0") });
  });

  test("cost no request more and at most two read units a message, and nothing without the setting", async () => {
    await record(userEvent({ loanId: "L-1" }), accountEvent({ accountId, userId }));
    const before = await pump();
    await record(news({ userId }));
    fixture.attributes = undefined;
    const without = await relayOne(before);
    expect(await sent()).toContainEqual({ type: "endpoint.updated" });
    fixture.attributes = { asks: true };
    const withThem = await relayOne(before);
    expect(await sent()).toEqual([{ type: "endpoint.updated", attributes: { loanId: "L-1" } }]);
    expect(without.requests).toBe(1);
    expect(withThem.requests).toBe(1);
    expect(withThem.units - without.units).toBe(2);
    // The state contains its user: one unit.
    const index = (await relayed()).findIndex(
      ({ dynamodb }) => dynamodb?.Keys?.pk?.S === `ACCOUNT#${accountId}`,
    );
    const ofState = await relayOne(index);
    expect([ofState.requests, ofState.units - without.units]).toEqual([1, 1]);
  });

  test.each([
    ["no user", () => ({})],
    ["another user, to whom the account is said to have moved", () => ({ userId: other })],
  ])("are those of the account's first user if an event of its data names %s", async (_, named) => {
    await record(userEvent({ loanId: "first" }), userEvent({ loanId: "other" }, { userId: other }));
    await record(
      accountEvent({ accountId, userId }),
      accountEvent({ accountId, userId: other, type: "account.updated" }),
    );
    const before = await pump();
    await sent();
    await record(news(named()));
    expect((await relayOne(before)).requests).toBe(2);
    expect(await sent()).toEqual([{ type: "endpoint.updated", attributes: { loanId: "first" } }]);
  });

  test("are in the message of new data, which identifies the user only by its account", async () => {
    await record(userEvent({ loanId: "L-1" }), accountEvent({ accountId, userId }));
    await pump();
    await sent();
    const subject = { kind: "account", id: accountId } as const;
    const after = documentRead(undefined, "1".repeat(64), { asOf: 2, subject });
    const change = writeChange({ type: "document", before: undefined, after }, "1");
    expect(await invoke([change])).toEqual(allDone);
    expect(await sent()).toEqual([{ type: "data.updated", attributes: { loanId: "L-1" } }]);
  });

  test("are absent from messages sent before they were known, and the user's own message contains them", async () => {
    await record(accountEvent({ accountId, userId }), news({ userId }));
    const before = await pump();
    expect(await sent()).toEqual([{ type: "endpoint.updated" }, { type: "account.connected" }]);
    await record(userEvent({ loanId: "L-1" }));
    await pump(before);
    expect(await sent()).toEqual([{ type: "user.updated", attributes: { loanId: "L-1" } }]);
  });

  test("change while messages are in flight: a batch that is delivered again has the newest, with the same ids", async () => {
    await record(userEvent({ loanId: "L-1" }, { type: "user.created" }), news({ userId }));
    const before = await pump();
    const first = await messages(fixture.subscribers.everything.queueUrl);
    await record(userEvent({ loanId: "L-2" }));
    await pump(before);
    await sent();
    await invoke((await relayed()).slice(0, before));
    const again = await messages(fixture.subscribers.everything.queueUrl);
    const data = again.find(({ type }) => type === "endpoint.updated");
    expect(first.map(({ id }) => id)).toContain(data?.id);
    expect(data?.data).toMatchObject({
      attributes: { loanId: "L-2" },
      attributesSequence: "2".padStart(20, "0"),
    });
  });

  test("cause a call if a webhook's order is unknown, unless no call is possible", async () => {
    await record(userEvent({ loanId: "A" }), userEvent({ loanId: "B" }));
    await pump();
    expect(await tasks()).toMatchObject([
      { type: "fetchState", subject: { kind: "user", id: userId }, version: 2 },
    ]);
    fixture.attributes = { asks: false };
    await record(
      userEvent({ loanId: "A" }, { userId: other }),
      userEvent({ loanId: "B" }, { userId: other }),
    );
    await pump();
    expect(await tasks()).toEqual([]);
    expect(await fixture.table.item(`USER#${other}`, "STATE")).toMatchObject({
      state: { unconfirmed: false, attributes: { values: { loanId: expect.any(String) } } },
    });
  });
});
