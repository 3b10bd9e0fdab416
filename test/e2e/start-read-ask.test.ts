import { DynamoDBClient, paginateQuery } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { startTestProvider } from "@income-events/local-stack/provider.ts";
import { readSubscriber, readTable } from "@income-events/local-stack/scenario/snapshot.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { identify } from "../../domain/event/identify.ts";
import { eventually } from "../support/eventually.ts";
import { linesWith, messagesWith, sendFollowed } from "../support/followed-webhook.ts";
import { webhookSecretOf } from "../support/operator.ts";
import { type RunningProduct, startProduct } from "../support/running-product.ts";
import { settle } from "../support/settle.ts";
import { duplicatesIn, readMessages } from "../support/subscriber-messages.ts";

const period = z.looseObject({ date_start: z.string(), date_end: z.string() });
const dataOf = z.looseObject({ data: z.array(period) });

describe("the synthesized stack and the provider", () => {
  let product: RunningProduct;
  let system: System;
  beforeAll(async () => {
    product = await startProduct("local", {}, { delivery: { firstRetryMs: 200 } });
    ({ system } = product);
  });
  afterAll(async () => {
    await product?.[Symbol.asyncDispose]();
  });

  const settled = () => settle(system);
  const connectedAccount = async () => {
    const { accounts } = await system.sandbox.createUsers(1);
    await settled();
    return accounts[0] ?? "";
  };
  const stateOf = async (accountId: string) =>
    (await readTable(system.access, outputOf(system.stack, "TableName"))).accounts.get(accountId);
  /** The account's items of a sort key's beginning. */
  const itemsOf = async (accountId: string, sortKey: string) => {
    const client = new DynamoDBClient(system.access);
    const pages = paginateQuery(
      { client },
      {
        TableName: outputOf(system.stack, "TableName"),
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :sk)",
        ExpressionAttributeValues: marshall({ ":pk": `ACCOUNT#${accountId}`, ":sk": sortKey }),
      },
    );
    const items: Record<string, unknown>[] = [];
    for await (const { Items = [] } of pages) items.push(...Items.map((item) => unmarshall(item)));
    client.destroy();
    return items;
  };
  /** The provider's count of the calls of an account since a moment, `GET income` or `GET` for its state. */
  const callsOf = (accountId: string, since = 0) =>
    system.sandbox
      .calls()
      .slice(since)
      .filter(({ path }) => path.includes(accountId))
      .map(({ method, path }) => `${method} ${path.split(accountId)[1]?.slice(1) ?? ""}`.trim());
  const endpointEvent = (accountId: string) => ({
    event: "update_endpoint",
    request_id: crypto.randomUUID(),
    account_id: accountId,
    endpoint: "income",
    data_available: true,
  });
  const callsSoFar = () => system.sandbox.calls().length;

  describe("of an account that connects", () => {
    it("starts one data fetch, and reads what its events tell until all is the provider's", async () => {
      const accountId = await connectedAccount();
      expect(callsOf(accountId).filter((call) => call === "POST fetches")).toHaveLength(1);
      for (const endpoint of ["profile", "income", "employment"]) {
        expect(callsOf(accountId)).toContain(`GET ${endpoint}`);
        const contents = await itemsOf(accountId, `CONTENT#${endpoint}#`);
        expect(contents.map(({ content }) => JSON.parse(String(content)))).toEqual([
          system.sandbox.data(accountId, endpoint),
        ]);
      }
    });

    it("reads its endpoints anyway where no event answers the start", async () => {
      const accountId = await connectedAccount();
      system.sandbox.disconnectAccount(accountId);
      await settled();
      const from = callsSoFar();
      await using _ = await losingEvents("endpoints");

      system.sandbox.reconnectAccount(accountId);
      await settled();

      const reads = callsOf(accountId, from).filter((call) => !["GET", "POST fetches"].includes(call));
      expect(reads.toSorted()).toEqual(["GET employment", "GET income", "GET profile"]);
      for (const endpoint of ["profile", "income", "employment"]) {
        const [whole] = await itemsOf(accountId, `CONTENT#${endpoint}`);
        expect(JSON.parse(String(whole?.content))).toEqual(system.sandbox.data(accountId, endpoint));
      }
    });
  });

  describe("of data that is available", () => {
    it("reads the endpoint and the dates that the event tells, by one call", async () => {
      const accountId = await connectedAccount();
      const from = callsSoFar();

      system.sandbox.fetchData(accountId, ["income"]);
      await settled();

      expect(callsOf(accountId, from)).toEqual(["GET income"]);
      const events = await itemsOf(accountId, "DATA#income#");
      const [, newer] = events.toSorted((one, other) => String(one.sk).localeCompare(String(other.sk)));
      expect(newer).toMatchObject({ data: { wanted: 1, done: 1, range: { start: expect.any(String) } } });
      const key = String(newer?.sk).replace("DATA#", "CONTENT#");
      const [content] = await itemsOf(accountId, key);
      expect(JSON.parse(String(content?.content))).toEqual(system.sandbox.data(accountId, "income"));
    });

    it("reads these dates only, though the endpoint has more", async () => {
      const accountId = await connectedAccount();
      const income = dataOf.parse(system.sandbox.data(accountId, "income"));
      const [first, second] = income.data;
      const range = { date_start: first?.date_start, date_end: second?.date_end };

      system.sandbox.fireEvent("endpoints", { ...endpointEvent(accountId), ...range });
      await settled();

      const key = `CONTENT#income#${range.date_start}..${range.date_end}`;
      const [content] = await itemsOf(accountId, key);
      expect(JSON.parse(String(content?.content))).toEqual({ ...income, data: [first, second] });
    });

    it("calls once for an event that is delivered three times", async () => {
      const accountId = await connectedAccount();
      const from = callsSoFar();

      system.sandbox.fireEvent("endpoints", endpointEvent(accountId), { times: 3 });
      await settled();

      expect(callsOf(accountId, from)).toEqual(["GET income"]);
    });

    it("stores, tells and calls once for an event that is delivered a hundred times at once", async () => {
      const accountId = await connectedAccount();
      const from = callsSoFar();
      const toldOfAll = subscribersOf(system.stack).flatMap(({ types, queueUrl }) =>
        types === undefined ? [queueUrl] : [],
      );
      for (const queueUrl of toldOfAll) await readMessages(system.access, queueUrl);
      const body = JSON.stringify(endpointEvent(accountId));
      const headers = {
        "x-webhook-secret": await webhookSecretOf(system.stack),
        "content-type": "application/json",
      };
      const deliver = async (): Promise<void> => {
        const url = `${system.stack.apiUrl}/webhooks/endpoints`;
        const { status } = await fetch(url, { method: "POST", headers, body });
        // As the provider does: what is not accepted is sent again.
        if (status >= 500 || status === 429) return deliver();
        expect(status).toBe(202);
      };

      await Promise.all(Array.from({ length: 100 }, deliver));
      await settled();

      const id = identify("endpoints", Buffer.from(body));
      const events = await itemsOf(accountId, `EVENT#${id}`);
      expect(events).toHaveLength(1);
      expect(events[0]?.receipts).toBeGreaterThanOrEqual(100);
      for (const queueUrl of toldOfAll) {
        const messages = await readMessages(system.access, queueUrl);
        const told = messages.filter(({ type }) => type === "endpoint.updated");
        expect(new Set(told.map((message) => message.id))).toEqual(new Set([id]));
        expect(duplicatesIn(messages)).toEqual([]);
      }
      expect(callsOf(accountId, from)).toEqual(["GET income"]);
    });

    it("calls once for ten events that are counted before the first of their tasks looks", async () => {
      const { sandbox, stack } = system;
      const accountId = await connectedAccount();
      const from = callsSoFar();
      const allAreCounted = Promise.withResolvers<void>();
      let counted = 0;
      const working = stack.gateway.intercept(async ({ principal, action }, moment) => {
        if (principal.includes("Fetch") && action === "dynamodb:GetItem") await allAreCounted.promise;
        if (principal.includes("Relay") && action === "dynamodb:PutItem" && moment === "after") counted += 1;
        if (counted === 10) allAreCounted.resolve();
        return undefined;
      });

      for (let fetch = 0; fetch < 10; fetch += 1) sandbox.fireEvent("endpoints", endpointEvent(accountId));
      await settled();
      working();

      expect(callsOf(accountId, from)).toEqual(["GET income"]);
      const [dataSet] = (await itemsOf(accountId, "DATA#income")).filter(({ sk }) => sk === "DATA#income");
      expect(dataSet).toMatchObject({ data: { wanted: 10, done: 10 } });
    });
  });

  describe("of account events without id and time, which can be late retries or true repeats,", () => {
    const bodyOf = (accountId: string) => {
      const account = system.sandbox.snapshot().accounts.find(({ id }) => id === accountId);
      return { event: "connect_account", account_id: accountId, user_id: account?.userId, connected: true };
    };
    const asksSince = (accountId: string, from: number) =>
      callsOf(accountId, from).filter((call) => call === "GET").length;

    it("connect, disconnect and connect again with the same bytes ends connected", async () => {
      const { sandbox } = system;
      const accountId = await connectedAccount();
      const from = callsSoFar();
      sandbox.disconnectAccount(accountId);
      await settled();
      expect(await stateOf(accountId)).toMatchObject({ connected: false, unconfirmed: false });
      expect(asksSince(accountId, from)).toBe(1);

      // Its payload is the first one's to the byte.
      sandbox.reconnectAccount(accountId);
      await settled();

      expect(await stateOf(accountId)).toMatchObject({ connected: true, unconfirmed: false, deleted: false });
      expect(asksSince(accountId, from)).toBe(2);
    });

    it("a late retry of the connect after a disconnect ends as the provider says", async () => {
      const { sandbox } = system;
      const accountId = await connectedAccount();
      const from = callsSoFar();
      sandbox.fireEvent("accounts", bodyOf(accountId));
      await settled();
      expect(asksSince(accountId, from)).toBe(0);
      sandbox.disconnectAccount(accountId);
      await settled();

      sandbox.fireEvent("accounts", bodyOf(accountId), { times: 3 });
      await settled();

      expect(await stateOf(accountId)).toMatchObject({
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
      const accountId = await connectedAccount();
      sandbox.disconnectAccount(accountId);
      await settled();
      const from = callsSoFar();

      sandbox.fireEvent("accounts", bodyOf(accountId));
      await settled();

      expect(await stateOf(accountId)).toMatchObject({
        connected: false,
        unconfirmed: false,
        deleted: false,
      });
      expect(asksSince(accountId, from)).toBe(1);
    });

    it("an answer is written only if the state is still the one that asked", async () => {
      const { sandbox, stack, access } = system;
      const accountId = await connectedAccount();
      const [subscriber] = subscribersOf(stack).filter(({ name }) => name === "accounts");
      await readSubscriber(access, subscriber?.queueUrl ?? "");
      const answerIsHeld = Promise.withResolvers<void>();
      const stateHasMovedOn = Promise.withResolvers<void>();
      let isReconnected = false;
      const working = stack.gateway.intercept(async ({ principal, action }, moment) => {
        if (action !== "dynamodb:PutItem") return undefined;
        if (principal.includes("Fetch") && moment === "before") {
          answerIsHeld.resolve();
          await stateHasMovedOn.promise;
        }
        if (principal.includes("Relay") && moment === "after" && isReconnected) stateHasMovedOn.resolve();
        return undefined;
      });

      // The provider says that it is disconnected; before that is written, it is connected again.
      sandbox.disconnectAccount(accountId);
      await answerIsHeld.promise;
      isReconnected = true;
      sandbox.reconnectAccount(accountId);
      await settled();
      working();

      expect(await stateOf(accountId)).toMatchObject({ connected: true, unconfirmed: false });
      const types = [...(await readSubscriber(access, subscriber?.queueUrl ?? ""))];
      const confirmed = types.filter(([id, type]) => type === "account.confirmed" && id.includes(accountId));
      expect(confirmed).toHaveLength(1);
    });

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
    });
  });

  describe("one webhook", () => {
    it("is found by its correlation id in the log of all that it passes, and in what subscribers get of it", async () => {
      const accountId = await connectedAccount();
      const id = await sendFollowed(system, "endpoints", endpointEvent(accountId));
      await settled();

      const way = [
        "receive/endpoints WEBHOOK_ACCEPTED",
        "store/endpoints EVENT_STORED",
        "fetch/data TASK_DONE",
      ];
      // The event, that its data is wanted, and the data. A line may come after the answer of its function.
      const relayed = Array.from({ length: 3 }, () => "relay/changes RELAYED");
      await eventually(() => {
        const lines = linesWith(system, id);
        expect(lines).toEqual(expect.arrayContaining(way));
        expect(lines.filter((line) => line === relayed[0]).slice(0, 3)).toEqual(relayed);
      });
      const messages = await messagesWith(system, id);
      const told = new Set(messages.map(({ type, subject }) => `${type} of ${subject}`));
      const subject = `account/${accountId}/income`;
      expect(told).toEqual(new Set([`endpoint.updated of ${subject}`, `data.updated of ${subject}`]));
    });

    it("is found so where the provider is asked because of it, and each time that it comes again", async () => {
      const accountId = await connectedAccount();
      const event = { event: "disconnect_account", account_id: accountId, user_id: crypto.randomUUID() };
      const id = await sendFollowed(system, "accounts", event);
      await settled();
      expect(await sendFollowed(system, "accounts", event)).toBe(id);
      await settled();

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

  /** Until it is disposed of, the provider sends a kind's events where nobody heeds them. */
  async function losingEvents(kind: "endpoints"): Promise<AsyncDisposable> {
    const { sandbox } = system;
    const nobody = await startTestProvider();
    nobody.answer = () => 204;
    const before = sandbox.webhook(kind);
    const register = (webhook: unknown) =>
      fetch(`${sandbox.baseUrl}/api/v0.3/webhooks/${kind}`, {
        method: "PUT",
        headers: { authorization: `Bearer ${sandbox.token}`, "content-type": "application/json" },
        body: JSON.stringify(webhook),
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
