import { randomUUID } from "node:crypto";
import { ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { queueDepth } from "../../../adapters/sqs/queue-metrics.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { type OperatedStage, startOperatedStage } from "../../support/operated-stage.ts";
import { sendFollowed } from "../../support/webhooks.ts";

const settings = {
  // Its schedule does not fire during the test.
  archive: { everyMinutes: 1_440 },
  subscribers: [{ name: "everything" }],
};

describe("dead letters, from the command line", () => {
  let operated: OperatedStage;
  let sqs: SQSClient;
  beforeAll(async () => {
    operated = await startOperatedStage("dead-letters", settings);
    sqs = new SQSClient(operated.system.access);
  });
  afterAll(async () => {
    sqs.destroy();
    await operated?.[Symbol.asyncDispose]();
  });

  const output = (name: string) => operated.output(name);
  const run = async (...args: readonly string[]) => operated.run(["dlq", ...args]);
  const json = (...args: readonly string[]) => operated.json("dlq", ...args);
  const post = (body: object) => sendFollowed(operated.system, "users", body);
  const waitingIn = async (prefix: string) =>
    (await queueDepth(sqs, output(`${prefix}DeadLetterQueueUrl`))).waiting;
  const unmappable = (name: string) => ({ event: "no_such_event", user_id: randomUUID(), name });

  it("lists them by queue with their reasons, shows them masked unless revealed, and leaves them", async () => {
    const id = await post(unmappable("Ada Lovelace"));
    await post(unmappable("Grace Hopper"));
    await post({ user_id: randomUUID() });
    await expect.poll(() => waitingIn("Users")).toBe(3);

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

    expect(await waitingIn("Users")).toBe(3);
  });

  it("are shown once another reader releases them, and those that it keeps are reported", async () => {
    const QueueUrl = output("EndpointsDeadLetterQueueUrl");
    await sqsSender(sqs)(QueueUrl, [{ body: "because of held", reason: "held" }]);
    /** Receives the dead letter as another reader does. */
    const hold = async (VisibilityTimeout: number) => {
      const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout }));
      expect(Messages).toHaveLength(1);
    };
    await hold(2);
    expect((await run("show", "endpoints")).stdout).toContain("held");
    await hold(60);
    const kept = await run("show", "endpoints");
    expect(kept).toMatchObject({ code: 0, stdout: "No dead letters found.\n" });
    expect(kept.stderr).toContain("Another reader holds dead letters of endpoints too");
    expect((await run("redrive", "endpoints")).stdout).toContain("Held by another reader: 1.");
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
