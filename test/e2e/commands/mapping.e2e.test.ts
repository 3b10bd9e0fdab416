import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { parseSample } from "../../../packages/cli/mapping/sample.ts";
import { readItems, readSubscriber } from "../../../proof/scenario/snapshot.ts";
import { mapping, samples } from "../../packages/cli/mapping/providers.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import { runInProcess } from "../../support/in-process.ts";
import { type RunningProduct, startProduct } from "../../support/running-product.ts";
import { webhookSecretOf } from "../../support/webhooks.ts";

const storedEvent = z.object({
  event: z.looseObject({ id: z.string() }),
  receipts: z.object({ count: z.number() }),
});
const trials = z.object({
  trials: z.array(
    z.object({ mapped: z.boolean(), id: z.string(), event: z.record(z.string(), z.unknown()) }),
  ),
});

describe("another provider, by settings alone", () => {
  let directory: string;
  let settings: string;
  let product: RunningProduct;
  const fileOf = (sample: (typeof samples)[number]) => join(directory, sample.kind, sample.file);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "mapping-"));
    settings = join(directory, "settings.json");
    for (const sample of samples) {
      await mkdir(join(directory, sample.kind), { recursive: true });
      await writeFile(fileOf(sample), sample.content);
    }
    await writeFile(settings, JSON.stringify({ production: false, mapping }));
  });
  afterAll(async () => {
    await product?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  it("has its webhooks become the events that mapping try predicts, each once, and messages", async () => {
    const foretold = new Map<string, object>();
    for (const sample of samples) {
      const kind = ["--kind", sample.kind, "--settings", settings];
      const args = ["mapping", "try", fileOf(sample), ...kind, "--json"];
      const { code, json } = await runInProcess(args);
      expect(code).toBe(0);
      const [trial] = trials.parse(json()).trials;
      expect(trial?.event).toEqual(expect.objectContaining(sample.says));
      foretold.set(trial?.id ?? "", trial?.event ?? {});
    }
    expect(foretold.size).toBe(samples.length);

    product = await startProduct("local", { mapping, startEndpoints: ["profile"], functions: {} });
    const { stack, access } = product.system;
    const secret = webhookSecretOf(stack);
    for (const { kind, file, content } of [...samples, ...samples]) {
      const { headers, bytes } = parseSample(file, Buffer.from(content));
      const answer = await fetch(`${outputOf(stack, "WebhooksUrl")}/${kind}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers, "x-webhook-secret": secret },
        body: Buffer.from(bytes),
      });
      expect(answer.status).toBe(202);
    }
    await waitUntilIdle(product.system);

    const stored = await storedEvents();
    expect(
      new Map(stored.map(({ event: { id, kind: _kind, receivedAt: _at, ...facts } }) => [id, facts])),
    ).toEqual(foretold);
    expect(stored).toHaveLength(samples.length);
    // An event with its own id or time can only be a retry, which is not counted.
    expect(stored.map(({ receipts }) => receipts.count)).toEqual(
      stored.map(({ event }) => ("eventId" in event || "time" in event ? 1 : 2)),
    );
    const messages = await readSubscriber(access, outputOf(stack, "SubscriberEverythingQueueUrl"));
    const types = new Set(messages.values());
    expect([...types].sort()).toEqual(
      expect.arrayContaining(["account.connected", "account.disconnected", "user.created"]),
    );
    expect(stack.functions.flatMap(({ log }) => log())).not.toContainEqual(
      expect.stringContaining("never-carried"),
    );
  });

  async function storedEvents() {
    const { stack, access } = product.system;
    const items = await readItems(access, outputOf(stack, "TableName"));
    return items.flatMap((item) => storedEvent.safeParse(item).data ?? []);
  }
});

describe("mapping try", () => {
  const account = "0f8fad5b-d9cb-469f-a165-70867728950e";
  const tryText = (input: string, ...flags: string[]) =>
    runInProcess(["mapping", "try", "-", ...flags], { input });

  it("shows which kinds map a payload, and why others do not", async () => {
    const { code, stdout } = await tryText(`{"action":"create_user","data":{"id":"${account}"}}`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^type +action \|\| event .*create_user$/m);
    expect(stdout).toContain("An event of users, with the identity");
    expect(stdout).toContain("the same bytes may announce another change");
    expect(stdout).toContain(
      'accounts: no event, type: mapping.types translates no event name "create_user".',
    );
  });

  it.each([
    ["no JSON", "{", { reason: "the body is not JSON", remedy: "as the provider sends it" }],
    [
      "an unknown event name",
      '{"event":"account_revoked"}',
      {
        reason: "type: ",
        remedy:
          'Add "account_revoked" to mapping.accounts.types, as one of account.created, account.updated, account.connected, account.disconnected, account.deleted, or as ignore',
      },
    ],
    [
      "no event name",
      `{"event_type":"linked","account_id":"${account}"}`,
      { reason: "type: ", remedy: "Set mapping.accounts.type to the path of this field in the body" },
    ],
    [
      "a missing id",
      `{"event":"update_account","link_id":"${account}"}`,
      {
        reason: "accountId: missing",
        remedy:
          'Set mapping.accounts.accountId to the path of this field in the body, or to {"header": "…"}.',
      },
    ],
    [
      "an id that is no UUID",
      '{"event":"update_account","account_id":"a-1"}',
      { reason: "accountId: not a UUID", remedy: 'Set mapping.accounts.ids to "any"' },
    ],
  ])("reports the reason and the remedy: %s", async (_, input, { reason, remedy }) => {
    const { code, stdout, stderr } = await tryText(input, "--kind", "accounts");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("accounts does not map it. "),
    });
    expect(stdout).toContain(`No event of accounts: ${reason}`);
    expect(stdout).toContain(remedy);
  });

  it.each([
    [
      "a kind that is none",
      ["-", "--kind", "people"],
      "write one of users, accounts, endpoints, company-accounts",
    ],
    [
      "a stage without settings",
      ["-", "--stage", "none"],
      "Name a stage (compressed, dev, local, prod) with --stage",
    ],
    ["a file that is not there", ["nothing.json"], "nothing.json can't be read"],
    ["settings that are no JSON", ["-", "--settings", "README.md"], "Settings in README.md: not JSON"],
    ["a header that is none", ["-", "--header", "no header"], 'Write "name: value"'],
  ])("refuses %s, with the remedy", async (_, args, remedy) => {
    expect(await runInProcess(["mapping", "try", ...args])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(remedy),
    });
  });

  it("never shows live credentials in users' bodies", async () => {
    const body = `{"action":"create_user","data":{"id":"${account}","link":"canary","session":"canary"}}`;
    const { stdout, stderr } = await tryText(body, "--json");
    expect(stdout + stderr).not.toContain("canary");
  });
});
