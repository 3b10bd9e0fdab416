import { randomUUID } from "node:crypto";
import { ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { expect, it } from "vitest";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { type OpenedConsole, queuesAndObjects, violationsInThemes } from "./opened-console.ts";

const name = "subscriber/everything";
/** The 14 days for which a queue keeps a message: every dead letter then counts as near its end. */
const wholeRetention = JSON.stringify({ beforeEndSeconds: 14 * 86_400 });

/** Dead letters that were archived before they expired. */
export function describeArchive(use: () => OpenedConsole): void {
  const panel = (title: string) => use().page.getByRole("region", { name: title, exact: true });
  const ofSubscriber = () => panel(`Dead letters of ${name}`);
  const output = (key: string) => use().stage.system.stack.outputs[key] ?? "";
  const archivedIn = async (s3: S3Client) => {
    const place = { Bucket: output("ArchiveBucketName"), Prefix: `dead-letters/${name}/` };
    return ((await s3.send(new ListObjectsV2Command(place))).Contents ?? []).length;
  };
  /** Puts dead letters into the queue and archives them. */
  const archive = async ({ sqs, s3 }: ReturnType<typeof queuesAndObjects>, reasons: readonly string[]) => {
    const ids = reasons.map(() => randomUUID());
    const deadLetters = reasons.map((reason, index) => ({
      body: JSON.stringify({
        specversion: "1.0",
        id: ids[index],
        type: "user.created",
        name: "Ada Lovelace",
      }),
      reason,
    }));
    await sqsSender(sqs)(output("SubscriberEverythingDeadLetterQueueUrl"), deadLetters);
    const archiver = use().stage.system.stack.functions.find(
      (each) => each.name === output("ArchiveFunctionName"),
    );
    await archiver?.invoke(wholeRetention);
    await expect.poll(() => archivedIn(s3)).toBe(reasons.length);
    return ids;
  };

  it("shows the archive, and redrives what a filter matches", async () => {
    const { page, stage, origin } = use();
    const at = queuesAndObjects(use().stage);
    const unread = "it can't be read";
    const [old = "", ...redriven] = await archive(at, ["it is too old", unread, unread]);
    await page.goto(`${origin}/dead-letters`);
    const row = panel("By queue").getByRole("row").filter({ hasText: name });
    await row.getByRole("link", { name: `3 of ${name} in the archive` }).waitFor();
    await row.getByRole("link", { name, exact: true }).click();
    await ofSubscriber()
      .getByText(/^No dead letters in the queue\. Older ones/)
      .waitFor();
    await ofSubscriber().getByLabel("from the archive").check();
    const rows = ofSubscriber().getByRole("region", { name: "Archived dead letters" }).getByRole("button");
    await expect.poll(() => rows.count()).toBe(3);
    expect(
      await ofSubscriber()
        .getByRole("button", { name: /^Purge/ })
        .count(),
    ).toBe(0);

    await rows.filter({ hasText: "it is too old" }).click();
    const opened = ofSubscriber().getByRole("region", { name: "The dead letter", exact: true });
    await opened.getByText(old).first().waitFor();
    expect(await opened.textContent()).not.toContain("Ada Lovelace");
    // Its URL alone shows it again.
    await page.reload();
    const reveals = async () =>
      JSON.stringify((await stage.run(["audit", "list", "--act", "reveal", "--json"])).json()).split(name)
        .length;
    const before = await reveals();
    await opened.getByRole("button", { name: "Show personal data" }).click();
    await opened.getByText("Ada Lovelace").waitFor();
    expect(await reveals()).toBe(before + 1);
    await opened.getByRole("button", { name: "Hide", exact: true }).click();
    await opened.getByRole("button", { name: "Show personal data" }).waitFor();
    expect(await opened.textContent()).not.toContain("Ada Lovelace");
    expect(await violationsInThemes(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    await page.setViewportSize({ width: 1280, height: 900 });

    await ofSubscriber().getByLabel("Text in the reason").fill("can't be");
    await ofSubscriber().getByLabel("Text in the reason").press("Enter");
    const line = `npx income-events dlq redrive ${name} --reason 'can'\\''t be' --archive`;
    await ofSubscriber().getByText(line, { exact: true }).waitFor();
    await ofSubscriber().getByRole("button", { name: "Redrive these 2", exact: true }).click();
    await ofSubscriber().getByText("Redriven: 2.").waitFor();
    await expect.poll(() => archivedIn(at.s3)).toBe(1);
    const found = new Set<string>();
    const QueueUrl = output("SubscriberEverythingQueueUrl");
    await expect
      .poll(async () => {
        const read = await at.sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
        for (const { Body = "" } of read.Messages ?? [])
          for (const id of redriven) if (Body.includes(id)) found.add(id);
        return found.size;
      })
      .toBe(2);
    await panel("Actions").getByText(`Redrive dead letters of ${name}`).first().click();
    const each = panel("Results").getByRole("listitem");
    await expect.poll(() => each.count()).toBe(2);
    for (const text of await each.allTextContents()) expect(text).toMatch(/^[\w-]{36} sent to its queue$/);
    await row.getByRole("link", { name: `1 of ${name} in the archive` }).click();
    await expect.poll(() => rows.count()).toBe(1);
  });
}
