import { randomUUID } from "node:crypto";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { GetQueueAttributesCommand, SendMessageBatchCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { expect, it } from "vitest";
import { writeChange } from "../../../adapters/aws/relay-invoker.ts";
import { eventChange, eventOf } from "../../domain/samples.ts";
import { type OpenedConsole, queuesAndObjects, violationsInThemes } from "./opened-console.ts";

/** Actions on dead letters. */
export function describeDeadLetters(use: () => OpenedConsole): void {
  const open = (path: string) => use().page.goto(`${use().origin}${path}`);
  const panel = (name: string) => use().page.getByRole("region", { name, exact: true });
  const ofCompanies = () => panel("Dead letters of company-accounts");
  const output = (name: string) => use().stage.system.stack.outputs[name] ?? "";
  const queueUrl = () => output("CompanyAccountsDeadLetterQueueUrl");
  /** Puts dead letters into the queue with a reason each, as the functions do. */
  const put = async (sqs: SQSClient, reason: string, count: number) => {
    const all = Array.from({ length: count }, (_, index) => ({
      Id: String(index % 10),
      MessageBody: JSON.stringify({ of: randomUUID() }),
      MessageAttributes: { reason: { DataType: "String", StringValue: reason } },
    }));
    for (let begin = 0; begin < count; begin += 10)
      await sqs.send(
        new SendMessageBatchCommand({ QueueUrl: queueUrl(), Entries: all.slice(begin, begin + 10) }),
      );
  };
  const depth = async (sqs: SQSClient) => {
    const command = new GetQueueAttributesCommand({
      QueueUrl: queueUrl(),
      AttributeNames: ["ApproximateNumberOfMessages"],
    });
    return Number((await sqs.send(command)).Attributes?.ApproximateNumberOfMessages);
  };
  const work = (what: RegExp) => panel("Actions").getByRole("listitem").filter({ hasText: what });

  it("redrives what a filter matches, and shows each result, even if the page was left meanwhile", async () => {
    const { sqs } = queuesAndObjects(use().stage);
    await put(sqs, "it names nobody", 2);
    await put(sqs, "it is of no known type", 3);
    const { gateway } = use().stage.system.stack;
    const hurry = gateway.intercept(async ({ principal, action }, phase) =>
      principal === "operator" && action === "sqs:SendMessageBatch" && phase === "before"
        ? { delayAnswerMs: 4_000 }
        : undefined,
    );
    await open("/dead-letters?queue=company-accounts&reason=no+known+type");
    await ofCompanies().getByRole("button", { name: "Redrive these 3", exact: true }).click();
    await work(/^running Redrive dead letters of company-accounts/).waitFor();
    await open("/events");
    await open("/dead-letters");
    await work(/^running Redrive dead letters of company-accounts/).waitFor();
    const done = work(/^done Redrive dead letters of company-accounts.* 3 in all$/);
    await done.waitFor();
    hurry();
    await panel("Actions").getByText("Redrive dead letters of company-accounts").first().click();
    const each = panel("Results").getByRole("listitem");
    await expect.poll(() => each.count()).toBe(3);
    for (const text of await each.allTextContents()) expect(text).toMatch(/^[\w-]{36} sent to its queue$/);
    expect(await violationsInThemes(use().page)).toEqual([]);
    // They fail again, so all of them are back.
    await expect.poll(() => depth(sqs)).toBe(5);
  });

  it("relays undelivered changes, and reports why the rest stays", async () => {
    const { s3 } = queuesAndObjects(use().stage);
    const user = randomUUID();
    const facts = { userId: user, kind: "users", receivedAt: new Date().toISOString() } as const;
    const record = writeChange(eventChange(eventOf("user.created", facts)), "1");
    for (const [name, body] of [
      ["2026/11/25/whole", { payload: JSON.stringify({ Records: [record] }) }],
      ["2026/11/24/torn", { payload: 1 }],
    ] as const) {
      const place = { Bucket: output("FailuresBucketName"), Key: `aws/lambda/0/${name}` };
      await s3.send(new PutObjectCommand({ ...place, Body: JSON.stringify(body) }));
    }
    await open("/dead-letters");
    const failures = panel("Undelivered changes");
    await failures.getByRole("button", { name: "Relay 2 batches", exact: true }).click();
    await failures.getByText("Relayed: 1 batch with 1 change. Not relayed: 1.").waitFor();
    await expect.poll(async () => (await use().stage.run(["records", "show", "user", user])).code).toBe(0);
    await failures.getByRole("button", { name: "Relay 1 batch", exact: true }).waitFor();
    await work(/^done Relay undelivered changes/).waitFor();
    await panel("Actions").getByText("Relay undelivered changes").first().click();
    for (const text of [
      "aws/lambda/0/2026/11/25/whole relayed, and removed",
      "aws/lambda/0/2026/11/24/torn it stays: payload: expected a text",
    ])
      await panel("Results").getByText(text).waitFor();
    expect(await violationsInThemes(use().page)).toEqual([]);
  });
}
