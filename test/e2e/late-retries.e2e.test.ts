import { subscribersOf } from "@income-events/local-stack/outputs.ts";
import { readSubscriber } from "@income-events/local-stack/scenario/snapshot.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { linesWith, messagesWith, sendFollowed } from "../support/followed-webhook.ts";
import { type AccountStage, endpointEvent, startAccountStage } from "./account-stage.ts";

describe("the synthesized stack and the provider", () => {
  let stage: AccountStage;
  let system: System;
  beforeAll(async () => {
    stage = await startAccountStage();
    ({ system } = stage);
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  describe("of account events without id and time, which can be late retries or true repeats,", () => {
    const bodyOf = (accountId: string) => {
      const account = system.sandbox.snapshot().accounts.find(({ id }) => id === accountId);
      return { event: "connect_account", account_id: accountId, user_id: account?.userId, connected: true };
    };
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

      // Its payload is the first one's to the byte.
      sandbox.reconnectAccount(accountId);
      await stage.waitUntilIdle();

      expect(await stage.stateOf(accountId)).toMatchObject({
        connected: true,
        unconfirmed: false,
        deleted: false,
      });
      expect(asksSince(accountId, from)).toBe(2);
    });

    it("a late retry of the connect after a disconnect ends as the provider says", async () => {
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

      expect(await stage.stateOf(accountId)).toMatchObject({
        connected: false,
        unconfirmed: false,
        deleted: false,
      });
      // The disconnect was asked about; and each retry, unless the next one came before its answer.
      expect(asksSince(accountId, from)).toBeGreaterThanOrEqual(2);
      expect(asksSince(accountId, from)).toBeLessThanOrEqual(4);
    });

    it("a late retry that was never received before ends as the provider says", async () => {
      const { sandbox } = system;
      const accountId = await stage.connectedAccount();
      sandbox.disconnectAccount(accountId);
      await stage.waitUntilIdle();
      const from = stage.callsSoFar();

      sandbox.fireEvent("accounts", bodyOf(accountId));
      await stage.waitUntilIdle();

      expect(await stage.stateOf(accountId)).toMatchObject({
        connected: false,
        unconfirmed: false,
        deleted: false,
      });
      expect(asksSince(accountId, from)).toBe(1);
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

      // The provider says that it is disconnected; before that is written, it is connected again.
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

    it("a deletion is believed after the provider confirmed it, and nothing brings the account back", async () => {
      const { sandbox } = system;
      const accountId = await stage.connectedAccount();
      const late = bodyOf(accountId);
      sandbox.deleteAccount(accountId);
      await stage.waitUntilIdle();
      expect(await stage.stateOf(accountId)).toMatchObject({ deleted: true, unconfirmed: false });

      sandbox.fireEvent("accounts", late, { times: 2 });
      await stage.waitUntilIdle();

      expect(await stage.stateOf(accountId)).toMatchObject({ deleted: true, unconfirmed: false });
    });
  });

  describe("one webhook", () => {
    it("is found by its correlation id in the log of all that it passes, and in what subscribers get of it", async () => {
      const accountId = await stage.connectedAccount();
      // So that the endpoint as a whole is other data than what its start had read of it.
      system.sandbox.fetchData(accountId, ["income"]);
      await stage.waitUntilIdle();
      const id = await sendFollowed(system, "endpoints", endpointEvent(accountId));
      await stage.waitUntilIdle();

      const way = [
        "receive/endpoints WEBHOOK_ACCEPTED",
        "store/endpoints EVENT_STORED",
        "fetch/data TASK_DONE",
      ];
      // The event, and the document. A line may come after the answer of its function.
      const relayed = Array.from({ length: 2 }, () => "relay/changes RELAYED");
      await eventually(() => {
        const lines = linesWith(system, id);
        expect(lines).toEqual(expect.arrayContaining(way));
        expect(lines.filter((line) => line === relayed[0]).slice(0, 2)).toEqual(relayed);
      });
      const messages = await messagesWith(system, id);
      const announced = new Set(messages.map(({ type, subject }) => `${type} of ${subject}`));
      const subject = `account/${accountId}/income`;
      expect(announced).toEqual(new Set([`endpoint.updated of ${subject}`, `data.updated of ${subject}`]));
    });

    it("is found so where the provider is asked because of it, and each time that it comes again", async () => {
      const accountId = await stage.connectedAccount();
      const event = { event: "disconnect_account", account_id: accountId, user_id: crypto.randomUUID() };
      const id = await sendFollowed(system, "accounts", event);
      await stage.waitUntilIdle();
      expect(await sendFollowed(system, "accounts", event)).toBe(id);
      await stage.waitUntilIdle();

      const codes = [
        "receive/accounts WEBHOOK_ACCEPTED",
        "store/accounts EVENT_AGAIN",
        "fetch/data TASK_DONE",
      ];
      await eventually(() => expect(linesWith(system, id)).toEqual(expect.arrayContaining(codes)));
      const types = new Set((await messagesWith(system, id)).map(({ type }) => type));
      expect(types).toEqual(new Set(["account.disconnected", "account.confirmed"]));
    });
  });
});
