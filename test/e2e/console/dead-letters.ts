import { randomUUID } from "node:crypto";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { expect, it } from "vitest";
import { writeChange } from "../../../adapters/aws/relay-invoker.ts";
import { queueDepth } from "../../../adapters/sqs/queue-metrics.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { clientsOf } from "../../../proof/scenario/clients.ts";
import { readObjects } from "../../../proof/scenario/snapshot.ts";
import { eventChange, eventOf } from "../../domain/samples.ts";
import { type OpenedConsole, stepsOn, violationsInThemes } from "./opened-console.ts";

const name = "subscriber/everything";
/** The 14 days for which a queue keeps a message: every dead letter then counts as near its end. */
const wholeRetention = JSON.stringify({ beforeEndSeconds: 14 * 86_400 });

/** Actions on dead letters, also on those that were archived before they expired. */
export function describeDeadLetters(use: () => OpenedConsole): void {
  const { open, panel, output } = stepsOn(use);
  const ofCompanies = () => panel("Dead letters of company-accounts");
  const queueUrl = () => output("CompanyAccountsDeadLetterQueueUrl");
  const work = (what: RegExp) => panel("Actions").getByRole("listitem").filter({ hasText: what });

  it("redrives what a filter matches, and shows each result, even if the page was left meanwhile", async () => {
    const { stack, access } = use().stage.system;
    const { gateway } = stack;
    using clients = clientsOf(access);
    const nobody = "it names nobody";
    const unknown = "it is of no known type";
    await sqsSender(clients.sqs)(
      queueUrl(),
      [nobody, nobody, unknown, unknown, unknown].map((reason) => ({
        body: JSON.stringify({ of: randomUUID() }),
        reason,
      })),
    );
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
    await expect.poll(async () => (await queueDepth(clients.sqs, queueUrl())).waiting).toBe(5);
  });

  it("relays undelivered changes, and reports why the rest stays", async () => {
    using clients = clientsOf(use().stage.system.access);
    const user = randomUUID();
    const facts = { userId: user, kind: "users", receivedAt: new Date().toISOString() } as const;
    const record = writeChange(eventChange(eventOf("user.created", facts)), "1");
    for (const [name, body] of [
      ["2026/11/25/whole", { payload: JSON.stringify({ Records: [record] }) }],
      ["2026/11/24/torn", { payload: 1 }],
    ] as const) {
      const place = { Bucket: output("FailuresBucketName"), Key: `aws/lambda/0/${name}` };
      await clients.s3.send(new PutObjectCommand({ ...place, Body: JSON.stringify(body) }));
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
  });

  const ofSubscriber = () => panel(`Dead letters of ${name}`);

  it("shows the archive, and redrives what a filter matches", async () => {
    const { page, stage } = use();
    const { stack, access } = stage.system;
    using clients = clientsOf(access);
    const archived = async () => (await readObjects(access, output("ArchiveBucketName"))).size;
    const [old, unread] = [randomUUID(), "it can't be read"];
    const letters = [old, randomUUID(), randomUUID()].map((id) => ({
      body: JSON.stringify({ specversion: "1.0", id, type: "user.created" }),
      reason: id === old ? "it is too old" : unread,
    }));
    await sqsSender(clients.sqs)(output("SubscriberEverythingDeadLetterQueueUrl"), letters);
    const before = await archived();
    await stack.functions.find((each) => each.name === output("ArchiveFunctionName"))?.invoke(wholeRetention);
    await expect.poll(archived).toBeGreaterThanOrEqual(before + 3);
    const all = await archived();
    await open("/dead-letters");
    const row = panel("By queue").getByRole("row").filter({ hasText: name });
    await row.getByRole("link", { name: `3 of ${name} in the archive` }).waitFor();
    await row.getByRole("link", { name, exact: true }).click();
    await ofSubscriber()
      .getByText(/^No dead letters in the queue\. Older ones/)
      .waitFor();
    await ofSubscriber().getByLabel("from the archive").check();
    const rows = ofSubscriber().getByRole("region", { name: "Archived dead letters" }).getByRole("button");
    await expect.poll(() => rows.count()).toBe(3);
    const purge = ofSubscriber().getByRole("button", { name: /^Purge/ });
    expect(await purge.count()).toBe(0);

    await rows.filter({ hasText: "it is too old" }).click();
    const opened = ofSubscriber().getByRole("region", { name: "The dead letter", exact: true });
    await opened.getByText(old).first().waitFor();
    // Its URL alone shows it again.
    await page.reload();
    await opened.getByText(old).first().waitFor();

    await ofSubscriber().getByLabel("Text in the reason").fill("can't be");
    await ofSubscriber().getByLabel("Text in the reason").press("Enter");
    const line = `npx income-events dlq redrive ${name} --reason 'can'\\''t be' --archive`;
    await ofSubscriber().getByText(line, { exact: true }).waitFor();
    await ofSubscriber().getByRole("button", { name: "Redrive these 2", exact: true }).click();
    await ofSubscriber().getByText("Redriven: 2.").waitFor();
    await expect.poll(archived).toBe(all - 2);
    await row.getByRole("link", { name: `1 of ${name} in the archive` }).click();
    await expect.poll(() => rows.count()).toBe(1);
  });
}
