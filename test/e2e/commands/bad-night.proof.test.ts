import {
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OperatedStage, startOperatedStage } from "../../support/operated-stage.ts";
import { waitUntilIdle } from "../../support/wait-until-idle.ts";

/** One cause after the other, as on a bad night: real minutes, for functions spare a provider and a token calls. */
describe("on a bad night doctor", () => {
  let operated: OperatedStage;
  let system: System;
  let sqs: SQSClient;
  beforeAll(async () => {
    const changes = { register: { readsFirst: true } };
    operated = await startOperatedStage("night", changes, { delivery: { firstRetryMs: 200 } });
    ({ system } = operated);
    sqs = new SQSClient(system.access);
  });
  afterAll(async () => {
    sqs.destroy();
    await operated?.[Symbol.asyncDispose]();
  });

  type Found = {
    readonly code: string;
    readonly severity: string;
    readonly fix: string;
    readonly what: string;
  };
  const examine = async () => {
    const { code, stdout } = await operated.run(["doctor", "--json"]);
    const { findings }: { findings: readonly Found[] } = JSON.parse(stdout);
    const open = findings.filter(({ severity }) => severity !== "info");
    expect(code).toBe(open.length === 0 ? 0 : 1);
    return open;
  };
  const untilFound = async (code: string): Promise<Found> => {
    await expect.poll(async () => (await examine())[0]?.code, { timeout: 120_000, interval: 500 }).toBe(code);
    const [first] = await examine();
    if (first === undefined) throw new Error(`nothing is found any more where ${code} was`);
    return first;
  };
  const untilQuiet = async () => {
    await expect.poll(examine, { timeout: 120_000, interval: 500 }).toEqual([]);
    const { stdout } = await operated.run(["doctor"]);
    expect(stdout).toContain("Nothing is wrong with the stage night.");
  };
  /** Types a remedy as doctor printed it, each command with what the one before it printed. */
  const paste = async (fix: string) => {
    let stdout = "";
    for (const command of fix.split(" | ")) {
      const [, words] = /^npx income-events (.*) --stage night$/.exec(command) ?? [];
      if (words === undefined) throw new Error(`no command of this stage: ${command}`);
      const result = await operated.run(words.split(" "), { input: stdout });
      expect(result).toMatchObject({ code: 0 });
      ({ stdout } = result);
    }
    return { stdout };
  };

  it("names a revoked token first, whose remedy lets all go on, and is quiet afterwards", async () => {
    await untilQuiet();
    system.sandbox.endTokens("revoked");
    await system.sandbox.createUsers(2);
    const found = await untilFound("token-refused");
    expect(found.fix).toMatch(/sandbox token .*\| .*token set /);
    await paste(found.fix);
    await untilQuiet();
    await waitUntilIdle(system);
  });

  it("names a provider that fails first, says when it is tried again, and is quiet when it is back", async () => {
    system.sandbox.fault({ status: 503, share: 1 });
    await system.sandbox.createUsers(2);
    const found = await untilFound("provider-down");
    // As soon as functions have found it down too.
    await expect
      .poll(async () => (await paste(found.fix)).stdout, { timeout: 60_000 })
      .toMatch(/^breaker +open: nobody calls it/m);
    expect((await paste(found.fix)).stdout).toMatch(/^answers +no: /m);
    system.sandbox.clearFaults();
    await untilQuiet();
    expect((await paste(found.fix)).stdout).toMatch(/^answers +yes/m);
    await waitUntilIdle(system);
  });

  it("names malformed webhooks first, by their dead letters, and is quiet when they are purged", async () => {
    const account = "9c858901-8a57-4791-81fe-4c455b099bc9";
    system.sandbox.fireEvent("accounts", { event: "merge_account", account_id: account });
    system.sandbox.fireEvent("accounts", "no JSON at all");
    const found = await untilFound("events-dead-letters");
    await expect.poll(async () => (await examine())[0]?.what).toContain("accounts has 2 dead letters");
    expect((await paste(found.fix)).stdout).toContain('translates no event name "merge_account"');
    await operated.run(["dlq", "purge", "accounts", "--yes", "--reason", "JSON"]);
    expect(await untilFound("events-dead-letters")).toMatchObject({
      what: expect.stringContaining("accounts has 1 dead letter"),
    });
    await operated.run(["dlq", "purge", "accounts", "--yes", "--reason", "event name"]);
    await untilQuiet();
  });

  it("names a subscriber that stopped first, and is quiet when it reads again", async () => {
    const QueueUrl = outputOf(system.stack, "SubscriberEverythingQueueUrl");
    // The shortest time that SQS keeps messages: half of it is what a reader may be behind.
    await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { MessageRetentionPeriod: "60" } }));
    await system.sandbox.createUsers(1);
    const found = await untilFound("subscriber-behind");
    expect((await paste(found.fix)).stdout).toMatch(/^everything +everything +\d+/m);
    await readAll(QueueUrl);
    await untilQuiet();
  });

  async function readAll(QueueUrl: string): Promise<void> {
    for (;;) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
      );
      if (Messages.length === 0) return;
      const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    }
  }
});
