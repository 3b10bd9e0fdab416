import { randomUUID } from "node:crypto";
import { ChangeMessageVisibilityCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { queueDeadLetters } from "../../../adapters/sqs/queue-dead-letters.ts";
import { queueDepth } from "../../../adapters/sqs/queue-metrics.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { identify } from "../../../domain/event/envelope.ts";
import type { WebhookKind } from "../../../domain/event/events.ts";
import type { DeadLetter } from "../../../domain/recovery/dead-letter.ts";
import { eventually } from "../../support/eventually.ts";
import { type OperatedStage, startOperatedStage, webhookSecretOf } from "../../support/operated-stage.ts";

const settings = {
  // Its schedule does not fire during the test.
  archive: { everyMinutes: 1_440 },
  subscribers: [{ name: "everything" }],
};

describe("dead letters, from the command line", () => {
  let operated: OperatedStage;
  let secret: string;
  let sqs: SQSClient;
  beforeAll(async () => {
    operated = await startOperatedStage("dead-letters", settings);
    const { access, stack } = operated.system;
    secret = await webhookSecretOf(stack);
    sqs = new SQSClient(access);
  });
  afterAll(async () => {
    sqs.destroy();
    await operated?.[Symbol.asyncDispose]();
  });

  const output = (name: string) => outputOf(operated.system.stack, name);
  const run = async (...args: readonly string[]) => operated.run(["dlq", ...args]);
  const json = async (...args: readonly string[]) => {
    const result = await run(...args, "--json");
    expect(result.stderr).toBe("");
    return Object(result.json());
  };
  const post = async (kind: WebhookKind, body: object | string) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const headers = { "x-webhook-secret": secret, "content-type": "application/json" };
    const answer = await fetch(`${output("WebhooksUrl")}/${kind}`, { method: "POST", headers, body: text });
    expect(answer.status).toBe(202);
    return identify(kind, Buffer.from(text));
  };
  const messagesIn = async (name: string): Promise<readonly DeadLetter[]> => {
    const found: DeadLetter[] = [];
    const place = queueDeadLetters(sqs, output(name), () => 60);
    await place(async (deadLetters) => {
      found.push(...deadLetters);
      return { done: [], isEnough: false };
    });
    return found;
  };
  const deadLettersIn = (prefix: string) => messagesIn(`${prefix}DeadLetterQueueUrl`);
  const untilThereAre = (count: number, prefix: string) =>
    eventually(async () => {
      const { waiting } = await queueDepth(sqs, output(`${prefix}DeadLetterQueueUrl`));
      expect(waiting).toBe(count);
    }, 200);
  const unmappable = (name: string) => ({ event: "no_such_event", user_id: randomUUID(), name });

  it("lists them by queue with their reasons, shows them masked unless revealed, and leaves them", async () => {
    const id = await post("users", unmappable("Ada Lovelace"));
    await post("users", unmappable("Grace Hopper"));
    await post("users", { user_id: randomUUID() });
    await untilThereAre(3, "Users");

    const { queues } = await json("list");
    expect(queues.map(({ queue }: { queue: string }) => queue)).toEqual([
      ...["users", "accounts", "endpoints", "company-accounts"],
      ...["fetch", "checks", "erase", "subscriber/everything"],
    ]);
    const [users, accounts] = queues;
    expect(users).toMatchObject({
      deadLetters: 3,
      archived: 0,
      reasons: [
        { reason: 'type: mapping.types translates no event name "no_such_event"', count: 2 },
        { count: 1 },
      ],
    });
    expect(Date.parse(users.endsAt) - Date.parse(users.oldest)).toBe(14 * 86_400_000);
    expect(accounts).toMatchObject({ deadLetters: 0, reasons: [] });
    expect((await run("list")).stdout).toMatch(
      /users +3 +\d+\w+ ago +in 1(3d 23h|4d) +0 +type: mapping.types translates/,
    );

    const shown = await run("show", "users", "--reason", "translates no");
    expect(shown.stdout).toMatch(new RegExp(`users event {2}${id}\\n {2}type: mapping.types translates`));
    expect(shown.stdout).toContain('"name":"(text)"');
    expect(shown.stdout).toContain('"event":"no_such_event"');
    expect(shown.stdout).not.toMatch(/Lovelace|Hopper|names no event|received \d/);
    const { deadLetters } = await json("show", "users", "--id", id, "--reveal");
    expect(deadLetters).toMatchObject([
      { what: "users event", id, returns: 0, payload: { event: "no_such_event", name: "Ada Lovelace" } },
    ]);
    expect((await json("show", "users", "--limit", "2")).deadLetters).toHaveLength(2);

    expect(await deadLettersIn("Users")).toHaveLength(3);
  });

  /**
   * Receives dead letters as another reader does.
   * @returns a function that returns them early
   */
  const hold = async (name: string, VisibilityTimeout: number) => {
    const QueueUrl = output(`${name}DeadLetterQueueUrl`);
    const receive = new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout, MaxNumberOfMessages: 10 });
    const { Messages = [] } = await sqs.send(receive);
    expect(Messages).toHaveLength(1);
    const [{ ReceiptHandle } = {}] = Messages;
    return () =>
      sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
  };
  const addDeadLetter = (name: string, reason: string) =>
    sqsSender(sqs)(output(`${name}DeadLetterQueueUrl`), [{ body: `because of ${reason}`, reason }]);

  it("reports how many dead letters another reader holds", async () => {
    await addDeadLetter("CompanyAccounts", "x");
    const giveBack = await hold("CompanyAccounts", 60);
    expect((await run("redrive", "company-accounts")).stdout).toContain("Held by another reader: 1.");
    expect((await queueDepth(sqs, output("CompanyAccountsDeadLetterQueueUrl"))).inFlight).toBe(1);
    await giveBack();
  });

  it("are shown once another reader releases them, and those that it keeps are reported", async () => {
    await addDeadLetter("Endpoints", "held");
    await hold("Endpoints", 2);
    expect((await run("show", "endpoints")).stdout).toContain("held");
    const giveBack = await hold("Endpoints", 60);
    const kept = await run("show", "endpoints");
    expect(kept).toMatchObject({ code: 0, stdout: "No dead letters found.\n" });
    expect(kept.stderr).toContain("Another reader holds dead letters of endpoints too");
    await giveBack();
  });

  it.each([
    [["show", "nothing"], 'No queue "nothing". Write one of: users, accounts, '],
    [["redrive", "users", "--limit", "0"], '--limit "0" is not a whole number above zero'],
    [["purge", "users", "--reason", ""], "--reason is empty"],
    [["redrive"], "missing required argument 'queue'"],
  ])("stay in their queue if a command is used wrongly: %j", async (args, message) => {
    expect(await run(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});
