import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { runProgram } from "../support/program.ts";

const aboveZero = z.number().int().positive();
const credentials = z.strictObject({ accessKeyId: z.string().min(16), secretAccessKey: z.string().min(1) });
const report = z.strictObject({
  region: z.string().min(1),
  endpoints: z.strictObject({ dynamodb: z.url(), sqs: z.url(), api: z.url(), sandbox: z.url() }),
  credentials,
  webhookHeaders: z.record(z.string(), z.string()),
  table: z.string().min(1),
  queues: z.record(z.string(), z.url()),
  documents: z.strictObject({ url: z.url() }),
  webhooks: z.strictObject({ sent: aboveZero, accepted: aboveZero, rejected: aboveZero }),
  events: z.strictObject({ stored: aboveZero, again: aboveZero, reconciled: aboveZero }),
  records: z.strictObject({ users: aboveZero, accounts: aboveZero, data: aboveZero }),
  fetches: aboveZero,
  kills: aboveZero,
  subscribers: z.record(
    z.string(),
    z.strictObject({
      queueUrl: z.url(),
      credentials,
      types: z.array(z.string()).optional(),
      received: aboveZero,
    }),
  ),
  documentsRead: aboveZero,
  documentsMissing: z.number(),
  deadLetters: aboveZero,
  lost: z.number(),
  seconds: z.number().positive(),
  permissions: z.array(
    z.strictObject({ role: z.string(), action: z.string(), resource: z.string(), isNeeded: z.boolean() }),
  ),
});

describe("npm start -- --once", () => {
  let directory = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "once-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  // On dynoxide: continuous integration runs `npm start -- --once` itself, whose default is DynamoDB Local.
  it("loses nothing, though functions are killed, the provider fails and events come twice", async () => {
    const file = join(directory, "figures.json");
    const scenario = ["--scenario", "proof/scenario/main.ts", "--once", "--users", "5"];
    const args = [...scenario, "--engine", "dynoxide", "--json", file];
    await using program = runProgram("packages/local-stack/start.ts", args);

    const code = await program.ended;

    expect(code, program.output()).toBe(0);
    // It contains keys.
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const counted = report.parse(JSON.parse(await readFile(file, "utf8")));
    expect(counted.lost).toBe(0);
    // Reconciliation found two users and their accounts without a webhook.
    expect(counted.records.users).toBe(5 + 2);
    expect(counted.events.reconciled).toBeGreaterThanOrEqual(2 * 2);
    // Five accounts, the two that were found, and three company accounts.
    expect(counted.records.accounts).toBe(10);
    expect(counted.records.data).toBe(10 * 3);
    expect(Object.keys(counted.subscribers)).toEqual(["everything", "accounts"]);
    // The subscriber "accounts" gets no data events; every document was announced to the other at least once.
    expect(counted.documentsRead).toBeGreaterThanOrEqual(counted.records.data);
    expect(counted.documentsMissing).toBe(0);
    // Each of fifteen functions is killed at least once.
    expect(counted.kills).toBeGreaterThanOrEqual(15);
    // An unreadable and an unmappable body of each kind, and three unreadable tasks.
    expect(counted.deadLetters).toBe(4 * 2 + 3);
  });
});
