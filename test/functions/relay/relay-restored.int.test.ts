import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { type Answer, applyProviderAnswer } from "../../../domain/state/state.ts";
import { describeOnTables } from "../../support/engines.ts";
import { accountEvent, relayFixture } from "../support/relay-fixture.ts";

await describeOnTables("a deletion that only reconciliation reported", (tables) => {
  const fixture = relayFixture(tables);
  const { record, pump, bodiesOf, messages } = fixture;

  test("erases nobody, is taken back at the subscriber as well, and later webhooks apply", async () => {
    fixture.erasesOnDeletion = true;
    const ids = { accountId: randomUUID(), userId: randomUUID() };
    const event = (type: "connected" | "deleted" | "restored" | "disconnected") =>
      accountEvent({ ...ids, type: `account.${type}`, ...(type !== "disconnected" && { reconciled: true }) });
    const known = versionedRecords(fixture.system.dynamodb, fixture.table.name);
    const subject = { kind: "account", id: ids.accountId } as const;
    const answer = (given: Answer) =>
      known.reviseState(subject, (state) =>
        applyProviderAnswer(state, state?.version ?? 0, given, { at: new Date() }),
      );
    const told = async () =>
      (await messages(fixture.subscribers.accounts.queueUrl))
        .toSorted((one, other) => (one.sequence < other.sequence ? -1 : 1))
        .map(({ type, data }) => ({ type, data }));

    await record(event("connected"));
    let seen = await pump();
    await record(event("deleted"));
    seen = await pump(seen);
    await answer({ found: false });
    seen = await pump(seen);
    expect(await told()).toMatchObject([
      { type: "account.connected" },
      { type: "account.deleted", data: { deleted: false, unconfirmed: true, reconciled: true } },
      { type: "account.confirmed", data: { deleted: true } },
    ]);

    await record(event("restored"));
    seen = await pump(seen);
    await answer({ found: true, connected: true });
    seen = await pump(seen);
    await record(event("disconnected"));
    await pump(seen);
    expect(await told()).toMatchObject([
      { type: "account.restored", data: { deleted: false, unconfirmed: true } },
      { type: "account.confirmed", data: { deleted: false, connected: true } },
      { type: "account.disconnected", data: { deleted: false, outcome: "unconfirmed" } },
    ]);
    expect(await bodiesOf(fixture.eraseQueueUrl)).toEqual([]);
  });
});
