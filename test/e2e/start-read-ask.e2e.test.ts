import { subscribersOf } from "@income-events/local-stack/outputs.ts";
import { startTestProvider } from "@income-events/local-stack/provider.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { identify } from "../../domain/event/envelope.ts";
import { readSubscriber } from "../../proof/scenario/snapshot.ts";
import { eventually } from "../support/eventually.ts";
import { linesWith, messagesWith, sendFollowed } from "../support/followed-webhook.ts";
import { webhookSecretOf } from "../support/operated-stage.ts";
import { duplicatesIn, readMessages } from "../support/queues/subscriber-messages.ts";
import { enableRelay } from "../support/relay-source.ts";
import { contentIn } from "../support/stored-content.ts";
import { type AccountStage, endpointEvent, startAccountStage } from "./account-stage.ts";

const period = z.looseObject({ date_start: z.string(), date_end: z.string() });
const dataOf = z.looseObject({ data: z.array(period) });

describe("the synthesized stack and the provider", () => {
  let stage: AccountStage;
  let system: System;
  beforeAll(async () => {
    stage = await startAccountStage();
    ({ system } = stage);
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  describe("of an account that connects", () => {
    it("starts one data fetch, and reads what its events announce until all is the provider's", async () => {
      const accountId = await stage.connectedAccount();
      expect(stage.callsOf(accountId).filter((call) => call === "POST fetches")).toHaveLength(1);
      for (const endpoint of ["profile", "income", "employment"]) {
        expect(stage.callsOf(accountId)).toContain(`GET ${endpoint}`);
        expect(await stage.documentsOf(accountId, endpoint)).toEqual([
          system.sandbox.data(accountId, endpoint),
        ]);
      }
      expect(await stage.itemsOf(accountId, "DOCUMENT#income#")).toHaveLength(1);
    });

    it("reads its endpoints even if no event answers the start, except those read by ranges", async () => {
      const accountId = await stage.connectedAccount();
      system.sandbox.disconnectAccount(accountId);
      await stage.waitUntilIdle();
      const from = stage.callsSoFar();
      await using _ = await losingEvents("endpoints");

      system.sandbox.reconnectAccount(accountId);
      await stage.waitUntilIdle();

      const reads = stage.callsOf(accountId, from).filter((call) => !["GET", "POST fetches"].includes(call));
      expect(reads.toSorted()).toEqual(["GET employment", "GET profile"]);
      for (const endpoint of ["profile", "employment"]) {
        const documents = await stage.documentsOf(accountId, endpoint);
        expect(documents).toEqual([system.sandbox.data(accountId, endpoint)]);
      }
    });
  });

  describe("of data that is available", () => {
    it("reads the endpoint and the dates that the event names, by one call", async () => {
      const accountId = await stage.connectedAccount();
      const from = stage.callsSoFar();

      system.sandbox.fetchData(accountId, ["income"]);
      await stage.waitUntilIdle();

      expect(stage.callsOf(accountId, from)).toEqual(["GET income"]);
      const ranges = await stage.itemsOf(accountId, "DOCUMENT#income#");
      const [, newer] = ranges.toSorted((one, other) => String(one.sk).localeCompare(String(other.sk)));
      expect(newer).toMatchObject({
        document: { by: [expect.any(String)], range: { start: expect.any(String) } },
      });
      expect(contentIn(newer)).toEqual(system.sandbox.data(accountId, "income"));
    });

    it("reads these dates only, though the endpoint has more", async () => {
      const accountId = await stage.connectedAccount();
      const income = dataOf.parse(system.sandbox.data(accountId, "income"));
      const [first, second] = income.data;
      const range = { date_start: first?.date_start, date_end: second?.date_end };

      system.sandbox.fireEvent("endpoints", { ...endpointEvent(accountId), endpoint: "income", ...range });
      await stage.waitUntilIdle();

      const name = `income#${range.date_start}..${range.date_end}`;
      expect(await stage.documentsOf(accountId, name)).toEqual([{ ...income, data: [first, second] }]);
    });

    it("stores, sends and calls once for an event that is delivered a hundred times at once", async () => {
      const accountId = await stage.connectedAccount();
      const from = stage.callsSoFar();
      const announcedToAll = subscribersOf(system.stack).flatMap(({ types, queueUrl }) =>
        types === undefined ? [queueUrl] : [],
      );
      for (const queueUrl of announcedToAll) await readMessages(system.access, queueUrl);
      const body = JSON.stringify(endpointEvent(accountId));
      const headers = {
        "x-webhook-secret": await webhookSecretOf(system.stack),
        "content-type": "application/json",
      };
      const deliver = async (): Promise<void> => {
        const url = `${system.stack.apiUrl}/webhooks/endpoints`;
        const { status } = await fetch(url, { method: "POST", headers, body });
        // Resends rejected webhooks, as the provider does.
        if (status >= 500 || status === 429) return deliver();
        expect(status).toBe(202);
      };

      await Promise.all(Array.from({ length: 100 }, deliver));
      await stage.waitUntilIdle();

      const id = identify("endpoints", Buffer.from(body));
      const events = await stage.itemsOf(accountId, `EVENT#${id}`);
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
      expect(stage.callsOf(accountId, from)).toEqual(["GET profile"]);
    });

    it("calls once for ten events that the relay gets in one batch: their tasks are one", async () => {
      const { sandbox, stack } = system;
      const accountId = await stage.connectedAccount();
      const from = stage.callsSoFar();
      await enableRelay(stack, false);
      for (let fetch = 0; fetch < 10; fetch += 1) sandbox.fireEvent("endpoints", endpointEvent(accountId));
      const events = () => stage.itemsOf(accountId, "EVENT#");
      const before = (await events()).length;
      await eventually(async () => expect(await events()).toHaveLength(before + 10));
      await enableRelay(stack, true);
      await stage.waitUntilIdle();

      expect(stage.callsOf(accountId, from)).toEqual(["GET profile"]);
      const documents = await stage.itemsOf(accountId, "DOCUMENT#profile");
      const whole = documents.find(({ sk }) => sk === "DOCUMENT#profile");
      for (const { receipts } of await events()) {
        expect(Object(receipts).since).toBeLessThanOrEqual(Object(whole?.document).asOf);
      }
    });
  });

  describe("of account events without id and time, which can be late retries or true repeats,", () => {
    const bodyOf = (accountId: string) => {
      const account = system.sandbox.snapshot().accounts.find(({ id }) => id === accountId);
      return { event: "connect_account", account_id: accountId, user_id: account?.userId, connected: true };
    };
    const settled = (connected: boolean) => ({ connected, unconfirmed: false, deleted: false });
    const asksSince = (accountId: string, from: number) =>
      stage.callsOf(accountId, from).filter((call) => call === "GET").length;

    it("connect, disconnect and connect again with the same bytes ends connected", async () => {
      const { sandbox } = system;
      const accountId = await stage.connectedAccount();
      const from = stage.callsSoFar();
      sandbox.disconnectAccount(accountId);
      await stage.waitUntilIdle();
      expect(await stage.stateOf(accountId)).toMatchObject({ connected: false, unconfirmed: false });
      expect(asksSince(accountId, from)).toBe(1);

      // Its payload is byte-identical to the first.
      sandbox.reconnectAccount(accountId);
      await stage.waitUntilIdle();

      expect(await stage.stateOf(accountId)).toMatchObject(settled(true));
      expect(asksSince(accountId, from)).toBe(2);
    });

    it("a late retry of the connect after a disconnect ends in the provider's state", async () => {
      const { sandbox } = system;
      const accountId = await stage.connectedAccount();
      const from = stage.callsSoFar();
      sandbox.fireEvent("accounts", bodyOf(accountId));
      await stage.waitUntilIdle();
      expect(asksSince(accountId, from)).toBe(0);
      sandbox.disconnectAccount(accountId);
      await stage.waitUntilIdle();

      sandbox.fireEvent("accounts", bodyOf(accountId), { times: 3 });
      await stage.waitUntilIdle();

      expect(await stage.stateOf(accountId)).toMatchObject(settled(false));
      // The provider is asked after the disconnect, and after each retry unless the next one came before its
      // answer.
      expect(asksSince(accountId, from)).toBeGreaterThanOrEqual(2);
      expect(asksSince(accountId, from)).toBeLessThanOrEqual(4);
    });

    it("an answer is written only if the state is still the one that asked", async () => {
      const { sandbox, stack, access } = system;
      const accountId = await stage.connectedAccount();
      const [subscriber] = subscribersOf(stack).filter(({ name }) => name === "accounts");
      await readSubscriber(access, subscriber?.queueUrl ?? "");
      const answerIsHeld = Promise.withResolvers<void>();
      const stateHasMovedOn = Promise.withResolvers<void>();
      let isReconnected = false;
      const working = stack.gateway.intercept(async ({ principal, action }, phase) => {
        if (action !== "dynamodb:BatchExecuteStatement") return undefined;
        if (principal.includes("Fetch") && phase === "before") {
          answerIsHeld.resolve();
          await stateHasMovedOn.promise;
        }
        if (principal.includes("Relay") && phase === "after" && isReconnected) stateHasMovedOn.resolve();
        return undefined;
      });

      // The provider answers "disconnected", and the account reconnects before that is written.
      sandbox.disconnectAccount(accountId);
      await answerIsHeld.promise;
      isReconnected = true;
      sandbox.reconnectAccount(accountId);
      await stage.waitUntilIdle();
      working();

      expect(await stage.stateOf(accountId)).toMatchObject({ connected: true, unconfirmed: false });
      const types = [...(await readSubscriber(access, subscriber?.queueUrl ?? ""))];
      const confirmed = types.filter(([id, type]) => type === "account.confirmed" && id.includes(accountId));
      expect(confirmed).toHaveLength(1);
    });
  });

  describe("one webhook", () => {
    it("is found by its correlation id in the logs of its path, and in the messages to subscribers", async () => {
      const accountId = await stage.connectedAccount();
      {
        // Data that no other event announces.
        await using _ = await losingEvents("endpoints");
        system.sandbox.fetchData(accountId, ["profile"]);
        await stage.waitUntilIdle();
      }
      const id = await sendFollowed(system, "endpoints", endpointEvent(accountId));
      await stage.waitUntilIdle();

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

    it("is found if it causes a call to the provider, and for each repeat", async () => {
      const accountId = await stage.connectedAccount();
      const event = { event: "disconnect_account", account_id: accountId, user_id: crypto.randomUUID() };
      const id = await sendFollowed(system, "accounts", event);
      await stage.waitUntilIdle();
      expect(await sendFollowed(system, "accounts", event)).toBe(id);
      await stage.waitUntilIdle();

      const codes = [
        "receive/accounts WEBHOOK_ACCEPTED",
        "store/accounts EVENT_DUPLICATE",
        "fetch/data TASK_DONE",
      ];
      await eventually(() => expect(linesWith(system, id)).toEqual(expect.arrayContaining(codes)));
      const types = new Set((await messagesWith(system, id)).map(({ type }) => type));
      expect(types).toEqual(new Set(["account.disconnected", "account.confirmed"]));
    });
  });

  /** Redirects a kind's webhooks to nowhere until disposed. */
  async function losingEvents(kind: "endpoints"): Promise<AsyncDisposable> {
    const { sandbox } = system;
    const nobody = await startTestProvider();
    nobody.answer = () => 204;
    const before = sandbox.webhook(kind);
    const register = (webhook: object | undefined) =>
      fetch(`${sandbox.baseUrl}/api/v0.3/webhooks/${kind}`, {
        method: "PUT",
        headers: { authorization: `Bearer ${sandbox.token}`, "content-type": "application/json" },
        body: JSON.stringify({ ...webhook, enabled: undefined }),
      });
    await register({ url: nobody.url, method: "POST", headers: {} });
    return {
      [Symbol.asyncDispose]: async () => {
        await register(before);
        await nobody.close();
      },
    };
  }
});
