import { join } from "node:path";
import { addressesOf } from "@income-events/local-stack/addresses.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { hrefOfDocument } from "../../domain/message/document-reference.ts";
import { loadSettings } from "../../lib/settings/settings.ts";
import { readItems } from "../../proof/scenario/snapshot.ts";
import { signedFetch } from "../../proof/support/signed-fetch.ts";
import { fixtureText } from "../fixtures/field/fixture-text.ts";
import { eventually, waitUntilIdle } from "../support/eventually.ts";
import { type OperatedStage, startOperatedStage } from "../support/operated-stage.ts";
import { endpointEvent } from "./account-stage.ts";

const { provider } = loadSettings("local", join(import.meta.dirname, "../../stages"));
const changes = {
  provider: { ...provider, breaker: { ...provider.breaker, failures: 2 } },
  mapping: {
    accounts: { types: { ping: "ignore", "connector/status_updated": "ignore" } },
  },
  webhooks: { secretCacheSeconds: 1 },
  register: { readsFirst: true },
};

let operated: OperatedStage;
let system: System;
beforeAll(async () => {
  operated = await startOperatedStage("field", changes, { delivery: { firstRetryMs: 200 } });
  ({ system } = operated);
});
afterAll(() => operated?.[Symbol.asyncDispose]());

const logLines = () => system.stack.functions.flatMap(({ log }) => log());
const logged = (code: string) => logLines().filter((line) => line.includes(`"${code}"`));

describe("an answer of the provider", () => {
  let accountId: string;
  beforeAll(async () => {
    const { accounts } = await system.sandbox.createUsers(1);
    [accountId = ""] = accounts;
    await waitUntilIdle(system);
  });

  /** Changes the profile's note and announces it. */
  function announce(note: string): void {
    const { sandbox } = system;
    sandbox.shape("data-answer", { note, data: "{{data}}" });
    sandbox.fireEvent("endpoints", endpointEvent(accountId));
  }
  const calls = (status: number) =>
    system.sandbox
      .calls()
      .filter((call) => call.path.endsWith(`${accountId}/profile`) && call.status === status).length;

  function reader() {
    const found = system.subscribers.find(({ name }) => name === "everything");
    if (found === undefined) throw new Error("the stage has no subscriber everything");
    return found;
  }

  /** The profile as a subscriber reads it. */
  async function served() {
    const { stack } = system;
    const { credentials } = reader();
    const subject = { kind: "account", id: accountId } as const;
    const url = new URL(hrefOfDocument(subject, { endpoint: "profile" }, outputOf(stack, "DocumentsUrl")));
    const answer = await signedFetch(url, { region: stack.region, credentials });
    expect(answer.status).toBe(200);
    return { type: answer.headers.get("content-type"), bytes: Buffer.from(await answer.arrayBuffer()) };
  }
  const fault = { path: "/profile$" };

  it("of 202 keeps the stored document, and is retried until there is data", async () => {
    const { sandbox } = system;
    const before = await served();
    sandbox.fault({ ...fault, status: 202, times: 3, retryAfterSeconds: 0.5 });
    announce("ready");
    await eventually(() => expect(calls(202)).toBeGreaterThan(0));
    expect(await served()).toEqual(before);
    await waitUntilIdle(system);
    expect(calls(202)).toBe(3);
    expect(String((await served()).bytes)).toContain('"note":"ready"');
    expect(logged("PROVIDER_DOWN")).toEqual([]);
  });
});

const storedEvent = z.object({
  event: z.looseObject({ id: z.string(), kind: z.string(), type: z.string() }),
  body: z.object({ text: z.string() }),
});

describe("webhooks as other providers send them", () => {
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

  it("are counted in the status by their names if ignored, and by their number if their path is wrong", async () => {
    for (const file of ["ping.json", "name-with-slash.json"])
      expect(await send("accounts", fixtureText(file))).toBe(202);
    expect(await send("account", fixtureText("ping.json"))).toBe(404);
    const status = async () => {
      const { ignored, wrongPaths } = await json("status");
      return { ignored, wrongPaths };
    };
    await expect.poll(status).toEqual({
      ignored: expect.arrayContaining([
        { name: "ping", count: 1 },
        { name: "connector/status_updated", count: 1 },
      ]),
      wrongPaths: 1,
    });
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
    const refusals = () => logged("WEBHOOK_REFUSED").length;
    /** Whether the webhooks that the sandbox sends of a new user, as they are registered, are accepted. */
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
      what: expect.stringMatching(/^The provider does not sign the webhooks of users/),
    });
    await json("webhooks", "register");
    expect(await differences()).toEqual([]);

    await rotate("--remove-signing");
    expect([await differences(), await isTaken()]).toEqual([[], true]);
  });
});
