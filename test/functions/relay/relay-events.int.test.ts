import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Message } from "../../../domain/message/message-schemas.ts";
import { describeOnTables } from "../../support/engines.ts";
import { accountEvent, names, relayFixture, source } from "../support/relay-fixture.ts";

await describeOnTables("the relay", (tables) => {
  const fixture = relayFixture(tables);
  const { record, pump, tasks, messages } = fixture;

  describe("an account that connects", () => {
    const accountId = randomUUID();
    const userId = randomUUID();
    const event = accountEvent({ accountId, userId, datasourceId: "uber" });

    test("becomes a state, a link to its user, a task to start its fetch, and a message to each subscriber", async () => {
      await record(event);
      await pump();
      expect(await fixture.table.item(`ACCOUNT#${accountId}`, "STATE")).toMatchObject({
        state: { version: 1, connected: true, deleted: false, unconfirmed: false, userId },
      });
      expect(await fixture.table.item(`USER#${userId}`, `ACCOUNT#${accountId}`)).toBeDefined();
      expect(await tasks()).toEqual([
        {
          schemaVersion: 2,
          cause: "1",
          correlationId: event.id,
          userId,
          type: "startFetch",
          subject: { kind: "account", id: accountId },
          version: 1,
        },
      ]);
      const message: Message = {
        specversion: "1.0",
        id: event.id,
        source,
        type: "account.connected",
        subject: `account/${accountId}`,
        time: event.receivedAt,
        datacontenttype: "application/json",
        sequence: "00000000000000000001",
        correlationid: event.id,
        data: {
          accountId,
          userId,
          datasourceId: "uber",
          connected: true,
          deleted: false,
          unconfirmed: false,
          outcome: "applied",
        },
      };
      for (const name of names) expect(await messages(fixture.subscribers[name].queueUrl)).toEqual([message]);
    });
  });

  test("an endpoint's event becomes a task to read its document, and a message, with no write of the table", async () => {
    const event = accountEvent({ kind: "endpoints", type: "endpoint.updated", endpoint: "income" });
    await record(event);
    const before = await fixture.table.all();
    await pump();
    expect(await fixture.table.all()).toEqual(before);
    expect(await tasks()).toEqual([
      {
        schemaVersion: 2,
        cause: `${event.id}.1`,
        correlationId: event.id,
        type: "fetchDocument",
        subject: { kind: "account", id: event.accountId },
        endpoint: "income",
        since: Date.parse(event.receivedAt),
      },
    ]);
    expect(await messages(fixture.subscribers.everything.queueUrl)).toMatchObject([
      { id: event.id, type: "endpoint.updated", subject: `account/${event.accountId}/income` },
    ]);
    expect(await messages(fixture.subscribers.accounts.queueUrl)).toEqual([]);
  });

  describe("an endpoint's event with dates", () => {
    const range = { start: "2026-01-01", end: "2026-01-31" };
    const accountId = randomUUID();
    const event = accountEvent({
      accountId,
      kind: "endpoints",
      type: "endpoint.updated",
      endpoint: "income",
      dateStart: range.start,
      dateEnd: range.end,
    });
    const subject = { kind: "account", id: accountId };
    const common = { schemaVersion: 2, cause: `${event.id}.1`, correlationId: event.id };
    const since = Date.parse(event.receivedAt);
    const read = { ...common, type: "fetchDocument", subject, endpoint: "income", since };

    test("reads only these dates if configured: each range is a separate document", async () => {
      fixture.readByRange.push("account/income");
      const other = { ...event, id: randomUUID(), dateStart: "2026-01-08" };
      await record(event, other);
      await pump();
      const later = { ...range, start: "2026-01-08" };
      expect(new Set(await tasks())).toEqual(
        new Set([
          { ...read, range },
          { ...read, range: later, cause: `${other.id}.1`, correlationId: other.id },
        ]),
      );
      expect(await messages(fixture.subscribers.everything.queueUrl)).toMatchObject([
        { data: { endpoint: "income", dateEnd: range.end } },
        { data: { endpoint: "income", dateEnd: range.end } },
      ]);
    });
  });
});
