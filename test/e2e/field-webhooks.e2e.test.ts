import { addressesOf } from "@income-events/local-stack/addresses.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { readItems } from "../../proof/scenario/snapshot.ts";
import { fixtureText } from "../fixtures/field/fixture-text.ts";
import { eventually } from "../support/eventually.ts";
import { type OperatedStage, startOperatedStage } from "../support/operated-stage.ts";

const changes = {
  mapping: {
    accounts: {
      ...{ ids: "any", identity: "eventId", eventId: "event_id", time: "occurred_at" },
      types: { ping: "ignore", "connector/status_updated": "ignore" },
    },
    "company-accounts": { events: "@", ids: "any" },
  },
  webhooks: { secretCacheSeconds: 1 },
  register: { readsFirst: true },
};

const storedEvent = z.object({
  event: z.looseObject({ id: z.string(), kind: z.string(), type: z.string() }),
  body: z.object({ text: z.string() }),
});

describe("webhooks as other providers send them", () => {
  let operated: OperatedStage;
  let system: System;
  beforeAll(async () => {
    operated = await startOperatedStage("field", changes);
    ({ system } = operated);
  });
  afterAll(() => operated?.[Symbol.asyncDispose]());

  const send = async (kind: string, body: string) => {
    const { endpoints, webhookHeaders } = addressesOf(system);
    const headers = { ...webhookHeaders, "content-type": "application/json" };
    const answer = await fetch(`${endpoints.api}/webhooks/${kind}`, { method: "POST", headers, body });
    return answer.status;
  };
  const json = async (...args: readonly string[]) => {
    const { code, json: parsed } = await operated.run([...args, "--json"]);
    expect(code).toBe(0);
    return Object(parsed());
  };
  async function storedEvents() {
    const items = await readItems(system.access, outputOf(system.stack, "TableName"));
    return items.flatMap((item) => storedEvent.safeParse(item).data ?? []);
  }

  it("become one event per element, however often they are sent, except ignored ones", async () => {
    const sent: readonly (readonly [string, string])[] = [
      ["accounts", fixtureText("ping.json")],
      ["accounts", fixtureText("name-with-slash.json")],
      ["accounts", fixtureText("retry-first-body.json")],
      ["accounts", fixtureText("retry-second-body.json")],
      ["accounts", fixtureText("retry-reserialized.json")],
      ["company-accounts", fixtureText("list-of-one.json")],
      ["company-accounts", fixtureText("list-of-two.json")],
      ["endpoints", fixtureText("multi-endpoint.json")],
      ["accounts", '{"event":"connector/unheard_of"}'],
    ];
    for (const [kind, body] of sent) expect(await send(kind, body)).toBe(202);
    expect(await send("account", fixtureText("ping.json"))).toBe(404);
    const deadLettersWith = async (reason: string) => {
      const { queues } = await json("dlq", "list", "--reason", reason);
      return queues.flatMap(({ reasons }: { reasons: readonly object[] }) => reasons);
    };
    await eventually(async () => expect(await storedEvents()).toHaveLength(6));
    await eventually(async () =>
      expect(await deadLettersWith("UNHEARD_OF")).toEqual([
        { reason: 'type: mapping.types translates no event name "connector/unheard_of"', count: 1 },
      ]),
    );
    expect(await deadLettersWith("nothing like it")).toEqual([]);

    const stored = await storedEvents();
    const about = stored.map(({ event }) => [
      event.type,
      event.companyAccountId ?? event.endpoint ?? event.accountId,
    ]);
    expect(about.map(String).toSorted()).toEqual([
      "account.disconnected,acct-retry-1",
      "company-account.connected,co-1",
      "company-account.connected,co-2",
      "company-account.disconnected,co-1",
      "endpoint.updated,income",
      "endpoint.updated,profile",
    ]);
    const income = stored.find(({ event }) => event.endpoint === "income");
    expect(income?.body.text).not.toContain("profile");

    const { ignored, wrongPaths } = await json("status");
    expect(wrongPaths).toBe(1);
    expect(ignored).toEqual(
      expect.arrayContaining([
        { name: "ping", count: 1 },
        { name: "connector/status_updated", count: 1 },
      ]),
    );
    const { events } = await json("events", "list", "--since", "1h", "--kind", "endpoints");
    expect(events.map(({ outcome }: { outcome: string }) => outcome)).toEqual(["stored", "stored"]);
  });

  it("stay signed at the provider through registrations and rotations, until a command disables it", async () => {
    const rotate = async (...args: readonly string[]) => {
      const { code } = await operated.run(["secret", "rotate", ...args], { input: "signing-key" });
      expect(code).toBe(0);
    };
    const findings = async () => {
      const { json: parsed } = await operated.run(["doctor", "--json"]);
      return z.object({ findings: z.array(z.object({ code: z.string(), what: z.string() })) }).parse(parsed())
        .findings;
    };
    const differences = async () => {
      const { webhooks } = await json("status", "--section", "webhooks");
      return webhooks.flatMap(({ differs = [] }: { differs?: readonly string[] }) => differs);
    };
    const refusals = () =>
      system.stack.functions.flatMap(({ log }) => log()).filter((line) => line.includes("WEBHOOK_REFUSED"))
        .length;
    /**
     * The sandbox sends a new user's webhooks with the current registration: detects whether it has changed.
     */
    const isTaken = async () => {
      const before = refusals();
      const { users } = await system.sandbox.createUsers(1, { accountsPerUser: 0 });
      const isStored = async () =>
        (await storedEvents()).some(({ event }) => users.some((id) => id === event.userId));
      await eventually(async () => expect(refusals() > before || (await isStored())).toBe(true));
      return refusals() === before;
    };

    await rotate("--signing");
    expect([await differences(), await isTaken()]).toEqual([[], true]);
    await json("webhooks", "register");
    expect([await differences(), await isTaken()]).toEqual([[], true]);
    await rotate();
    expect([await differences(), await isTaken()]).toEqual([[], true]);

    // Somebody replaces a registration without knowing the key.
    const url = `${outputOf(system.stack, "WebhooksUrl")}/users`;
    const headers = { authorization: `Bearer ${system.sandbox.token}`, "content-type": "application/json" };
    const body = JSON.stringify({ url, method: "POST", headers: addressesOf(system).webhookHeaders });
    await fetch(`${system.sandbox.baseUrl}/api/v0.3/webhooks/users`, { method: "PUT", headers, body });
    expect(await differences()).toEqual(["unsigned"]);
    expect(await findings()).toContainEqual({
      code: "webhooks-unsigned",
      what: expect.stringMatching(/^The webhooks of users are signed here, not signed there/),
    });
    await json("webhooks", "register");
    expect(await differences()).toEqual([]);

    await rotate("--remove-signing");
    expect([await differences(), await isTaken()]).toEqual([[], true]);
  });
});
