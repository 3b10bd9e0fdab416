import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { clientsOf } from "../../../proof/scenario/clients.ts";
import { readObjects } from "../../../proof/scenario/snapshot.ts";
import { type OpenedConsole, stepsOn } from "./opened-console.ts";

const name = "subscriber/everything";
/** The 14 days for which a queue keeps a message: every dead letter then counts as near its end. */
const wholeRetention = JSON.stringify({ beforeEndSeconds: 14 * 86_400 });

/** Dead letters that were archived before they expired. */
export function describeArchive(use: () => OpenedConsole): void {
  const { open, panel, output } = stepsOn(use);
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
