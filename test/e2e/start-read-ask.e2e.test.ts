import { join } from "node:path";
import { outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { identify } from "../../domain/event/envelope.ts";
import { loadSettings } from "../../lib/settings/settings.ts";
import { readItems, readTable } from "../../proof/scenario/snapshot.ts";
import { eventually, waitUntilIdle } from "../support/eventually.ts";
import { duplicatesIn, readMessages } from "../support/queues/subscriber-messages.ts";
import { type RunningProduct, startProduct } from "../support/running-product.ts";
import { contentIn } from "../support/stored-content.ts";
import { startTestProvider } from "../support/test-provider.ts";
import {
  endpointEvent,
  linesWith,
  messagesWith,
  postWebhook,
  registerAtProvider,
  sendFollowed,
} from "../support/webhooks.ts";

describe("the synthesized stack and the provider", () => {
  let product: RunningProduct;
  let system: System;
  /** Accounts that no test has used and whose data is all fetched. */
  let accounts: string[];
  beforeAll(async () => {
    const { provider } = loadSettings("local", join(import.meta.dirname, "../../stages"));
    // Income is read by date ranges, all other endpoints as a whole.
    const income = "/api/v0.4/accounts/{account_id}/income?date_start={date_start}&date_end={date_end}";
    const paths = { ...provider.paths, readRange: { income } };
    const changes = { provider: { ...provider, paths } };
    product = await startProduct("local", changes, { delivery: { firstRetryMs: 200 } });
    ({ system } = product);
    accounts = [...(await system.sandbox.createUsers(12)).accounts];
    await idle();
  });
  afterAll(() => product?.[Symbol.asyncDispose]());

  const idle = () => waitUntilIdle(system);
  const connectedAccount = () => accounts.pop() ?? "";
  const table = () => outputOf(system.stack, "TableName");
  const stateOf = async (accountId: string) =>
    (await readTable(system.access, table())).accounts.get(accountId);
  const itemsOf = async (accountId: string, sortKey: string) =>
    (await readItems(system.access, table())).filter(
      ({ pk, sk }) => pk === `ACCOUNT#${accountId}` && String(sk).startsWith(sortKey),
    );
  const callsSoFar = () => system.sandbox.calls().length;
  /** Calls to the provider about an account since a time: `GET income`, or `GET` for its state. */
  const callsOf = (accountId: string, since = 0) =>
    system.sandbox
      .calls()
      .slice(since)
      .filter(({ path }) => path.includes(accountId))
      .map(({ method, path }) => `${method} ${path.split(accountId)[1]?.slice(1) ?? ""}`.trim());

  describe("of an account that connects", () => {
    it("starts one data fetch, and reads what its events announce until all is the provider's", async () => {
      const accountId = connectedAccount();
      expect(callsOf(accountId).filter((call) => call === "POST fetches")).toHaveLength(1);
      for (const endpoint of ["profile", "income", "employment"]) {
        expect(callsOf(accountId)).toContain(`GET ${endpoint}`);
        const documents = (await itemsOf(accountId, `DOCUMENT#${endpoint}`)).map(contentIn);
        expect(documents).toEqual([system.sandbox.data(accountId, endpoint)]);
      }
      expect(await itemsOf(accountId, "DOCUMENT#income#")).toHaveLength(1);
    });
  });

  describe("of data that is available", () => {
    it("stores, sends and calls once for an event that is delivered a hundred times at once", async () => {
      const accountId = connectedAccount();
      const from = callsSoFar();
      const announcedToAll = subscribersOf(system.stack).flatMap(({ types, queueUrl }) =>
        types === undefined ? [queueUrl] : [],
      );
      for (const queueUrl of announcedToAll) await readMessages(system.access, queueUrl);
      const body = JSON.stringify(endpointEvent(accountId));
      const deliver = async (): Promise<void> => {
        const status = await postWebhook(system, "endpoints", body);
        // Resends rejected webhooks, as the provider does.
        if (status >= 500 || status === 429) return deliver();
        expect(status).toBe(202);
      };

      await Promise.all(Array.from({ length: 100 }, deliver));
      await idle();

      const id = identify("endpoints", Buffer.from(body));
      const events = await itemsOf(accountId, `EVENT#${id}`);
      expect(events).toHaveLength(1);
      // An event with its own id can only be a retry, which is counted in the log alone.
      expect(events[0]?.receipts).toMatchObject({ count: 1 });
      const counts = system.stack.functions
        .flatMap(({ log }) => log())
        .filter((line) => /EVENT_(STORED|DUPLICATE)/.test(line) && line.includes(id))
        .map((line) => Number(Object(JSON.parse(line)).count));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(100);
      for (const queueUrl of announcedToAll) {
        const messages = await readMessages(system.access, queueUrl);
        const announced = messages.filter(({ type }) => type === "endpoint.updated");
        expect(new Set(announced.map((message) => message.id))).toEqual(new Set([id]));
        expect(duplicatesIn(messages)).toEqual([]);
      }
      expect(callsOf(accountId, from)).toEqual(["GET profile"]);
    });
  });

  describe("of account events without id and time, which can be late retries or true repeats,", () => {
    const bodyOf = (accountId: string) => {
      const account = system.sandbox.snapshot().accounts.find(({ id }) => id === accountId);
      return { event: "connect_account", account_id: accountId, user_id: account?.userId, connected: true };
    };
    const settled = (connected: boolean) => ({ connected, unconfirmed: false, deleted: false });
    const asksSince = (accountId: string, from: number) =>
      callsOf(accountId, from).filter((call) => call === "GET").length;

    it("connect, disconnect and connect again with the same bytes ends connected", async () => {
      const { sandbox } = system;
      const accountId = connectedAccount();
      const from = callsSoFar();
      sandbox.disconnectAccount(accountId);
      await idle();
      expect(await stateOf(accountId)).toMatchObject({ connected: false, unconfirmed: false });
      expect(asksSince(accountId, from)).toBe(1);

      // Its payload is byte-identical to the first.
      sandbox.reconnectAccount(accountId);
      await idle();

      expect(await stateOf(accountId)).toMatchObject(settled(true));
      expect(asksSince(accountId, from)).toBe(2);
    });

    it("a late retry of the connect after a disconnect ends in the provider's state", async () => {
      const { sandbox } = system;
      const accountId = connectedAccount();
      const from = callsSoFar();
      sandbox.fireEvent("accounts", bodyOf(accountId));
      await idle();
      expect(asksSince(accountId, from)).toBe(0);
      sandbox.disconnectAccount(accountId);
      await idle();

      sandbox.fireEvent("accounts", bodyOf(accountId), { times: 3 });
      await idle();

      expect(await stateOf(accountId)).toMatchObject(settled(false));
      // The provider is asked after the disconnect, and after each retry unless the next one came before its
      // answer.
      expect(asksSince(accountId, from)).toBeGreaterThanOrEqual(2);
      expect(asksSince(accountId, from)).toBeLessThanOrEqual(4);
    });
  });

  describe("one webhook", () => {
    it("is found by its correlation id in the logs of its path, and in the messages to subscribers", async () => {
      const accountId = connectedAccount();
      // Data that no other event announces: meanwhile, webhooks of endpoints lead to nobody.
      const nobody = await startTestProvider();
      nobody.answer = () => 204;
      const registered = system.sandbox.webhook("endpoints");
      await registerAtProvider(system, "endpoints", { url: nobody.url });
      system.sandbox.fetchData(accountId, ["profile"]);
      await idle();
      await registerAtProvider(system, "endpoints", registered);
      await nobody.close();
      const id = await sendFollowed(system, "endpoints", endpointEvent(accountId));
      await idle();

      const way = [
        "receive/endpoints WEBHOOK_ACCEPTED",
        "store/endpoints EVENT_STORED",
        "fetch/data TASK_DONE",
      ];
      // The event and the document. Lines may arrive after the function's answer.
      const relayed = Array.from({ length: 2 }, () => "relay/changes RELAYED");
      await eventually(() => {
        const lines = linesWith(system, id);
        expect(lines).toEqual(expect.arrayContaining(way));
        expect(lines.filter((line) => line === relayed[0]).slice(0, 2)).toEqual(relayed);
      });
      const messages = await messagesWith(system, id);
      const announced = new Set(messages.map(({ type, subject }) => `${type} of ${subject}`));
      const subject = `account/${accountId}/profile`;
      expect(announced).toEqual(new Set([`endpoint.updated of ${subject}`, `data.updated of ${subject}`]));
    });
  });
});
