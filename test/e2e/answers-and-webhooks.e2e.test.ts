import { join } from "node:path";
import { addressesOf } from "@income-events/local-stack/addresses.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hrefOfDocument } from "../../domain/message/document-reference.ts";
import { loadSettings } from "../../lib/settings/settings.ts";
import { readTable } from "../../proof/scenario/snapshot.ts";
import { signedFetch } from "../../proof/support/signed-fetch.ts";
import { fixtureText } from "../fixtures/field/fixture-text.ts";
import { eventually, waitUntilIdle } from "../support/eventually.ts";
import { type OperatedStage, startOperatedStage } from "../support/operated-stage.ts";
import { endpointEvent, postWebhook, registerAtProvider } from "../support/webhooks.ts";

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

  /** The profile as a subscriber reads it. */
  async function served() {
    const subject = { kind: "account", id: accountId } as const;
    const url = new URL(hrefOfDocument(subject, { endpoint: "profile" }, operated.output("DocumentsUrl")));
    const [{ credentials } = expect.unreachable("the stage has no subscriber")] = system.subscribers;
    const answer = await signedFetch(url, { region: system.stack.region, credentials });
    expect(answer.status).toBe(200);
    return { type: answer.headers.get("content-type"), bytes: Buffer.from(await answer.arrayBuffer()) };
  }

  it("of 202 keeps the stored document, and is retried until there is data", async () => {
    const { sandbox } = system;
    const before = await served();
    sandbox.fault({ path: "/profile$", status: 202, times: 3, retryAfterSeconds: 0.5 });
    announce("ready");
    await eventually(() => expect(calls(202)).toBeGreaterThan(0));
    expect(await served()).toEqual(before);
    await waitUntilIdle(system);
    expect(calls(202)).toBe(3);
    expect(String((await served()).bytes)).toContain('"note":"ready"');
    expect(logged("PROVIDER_DOWN")).toEqual([]);
  });
});

describe("webhooks as other providers send them", () => {
  const json = (...args: readonly string[]) => operated.json(...args);
  const storedUsers = async () => (await readTable(system.access, operated.output("TableName"))).users;

  it("are counted in the status by their names if ignored, and by their number if their path is wrong", async () => {
    for (const file of ["ping.json", "name-with-slash.json"])
      expect(await postWebhook(system, "accounts", fixtureText(file))).toBe(202);
    expect(await postWebhook(system, "account", fixtureText("ping.json"))).toBe(404);
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
      return Object(parsed()).findings.map(({ code }: { code: string }) => code);
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
      const isStored = async () => (await storedUsers()).has(users[0] ?? "");
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
    const { webhookHeaders: headers } = addressesOf(system);
    await registerAtProvider(system, "users", { url: `${operated.output("WebhooksUrl")}/users`, headers });
    expect(await differences()).toEqual(["unsigned"]);
    expect(await findings()).toContain("webhooks-unsigned");
    await json("webhooks", "register");
    expect(await differences()).toEqual([]);

    await rotate("--remove-signing");
    expect([await differences(), await isTaken()]).toEqual([[], true]);
  });
});
