import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { GetQueueAttributesCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { findChromium } from "../../packages/sandbox/browser.ts";
import { webhookSecretOf } from "../../support/operator.ts";
import { describeFigures } from "./figures.ts";
import { type OpenedConsole, openConsole, violationsInThemes } from "./opened-console.ts";
import { describePeople, type People, startPeople } from "./people.ts";
import { describeWalk } from "./walk.ts";

const hasBrowser = findChromium() !== undefined || process.env.FORBID_SKIPS !== undefined;
const pages = [
  "/",
  "/events",
  "/records",
  "/dead-letters",
  "/subscribers",
  "/provider",
  "/mapping",
  "/trouble",
];

describe.skipIf(!hasBrowser)("the console in a browser", () => {
  let opened: OpenedConsole;
  let page: Page;
  let people: People;
  let sqs: SQSClient;
  let secrets: SecretsManagerClient;
  beforeAll(async () => {
    opened = await openConsole();
    page = opened.page;
    people = await startPeople(opened.stage);
    const { gatewayUrl: endpoint, region, operator: credentials } = opened.stage.system.stack;
    sqs = new SQSClient({ endpoint, region, credentials });
    secrets = new SecretsManagerClient({ endpoint, region, credentials });
  });
  afterAll(async () => {
    sqs?.destroy();
    secrets?.destroy();
    await opened?.[Symbol.asyncDispose]();
  });

  const output = (name: string) => opened.stage.system.stack.outputs[name] ?? "";
  const open = (path: string) => page.goto(`${opened.origin}${path}`);
  const panel = (name: string) => page.getByRole("region", { name, exact: true });
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const depthOf = async (name: string) => {
    const attributes = ["ApproximateNumberOfMessages"] as const;
    const command = new GetQueueAttributesCommand({
      QueueUrl: output(name),
      AttributeNames: [...attributes],
    });
    return Number((await sqs.send(command)).Attributes?.ApproximateNumberOfMessages);
  };

  const eventId = describeWalk(() => opened);

  it("leads from an event to whom it is about, and erases that user once the id is typed", async () => {
    await open(`/events/${eventId()}`);
    const link = panel("user.created").getByRole("link");
    const userId = (await link.textContent())?.trim() ?? "";
    await link.click();
    await panel(`user/${userId}`).waitFor();
    await press("Erase this user");
    const erase = panel("Erase");
    const confirm = erase.getByRole("button", { name: "Erase this user" });
    await erase.getByRole("textbox").fill("somebody else");
    expect(await confirm.isDisabled()).toBe(true);
    await erase.getByRole("textbox").fill(userId);
    await confirm.click();
    await erase.getByText("Erased: 1.").waitFor();
    expect((await opened.stage.run(["records", "show", "user", userId])).code).toBe(4);
  });

  describePeople(() => ({ opened, people }));

  it("shows a dead letter as text whatever it holds, redrives it, and purges it once its queue is typed", async () => {
    const { stack } = opened.stage.system;
    const headers = {
      "content-type": "application/json",
      [output("WebhookSecretHeader")]: await webhookSecretOf(stack),
    };
    const body = JSON.stringify({ action: "<img src=x onerror=alert(1)>\u202e", data: { id: "nobody" } });
    const answer = await fetch(`${stack.apiUrl}/webhooks/users`, { method: "POST", headers, body });
    expect(answer.status).toBe(202);
    await expect.poll(() => depthOf("UsersDeadLetterQueueUrl")).toBe(1);
    await open("/dead-letters");
    await panel("By queue").getByRole("link", { name: "users" }).click();
    const deadLetters = panel("Dead letters of users");
    await deadLetters.getByText("users event").click();
    await deadLetters.getByText('"data"').waitFor();
    await deadLetters.getByRole("button", { name: "Show personal data" }).click();
    await deadLetters.getByText("<img src=x onerror=alert(1)>\\u{202e}").waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    await deadLetters.getByRole("button", { name: "Redrive it" }).click();
    const said = () => deadLetters.getByRole("status").allTextContents();
    await expect.poll(said).toContain("Sent to their queue again: 1.");
    await expect.poll(() => depthOf("UsersDeadLetterQueueUrl")).toBe(1);
    await open("/dead-letters?queue=users");
    await deadLetters.getByText("users event").waitFor();
    await deadLetters.getByRole("button", { name: "Purge it" }).click();
    await deadLetters.getByLabel(/to confirm/).fill("users");
    await deadLetters.getByRole("button", { name: "Purge it" }).click();
    await deadLetters.getByText("Deleted: 1.").waitFor();
    expect(await depthOf("UsersDeadLetterQueueUrl")).toBe(0);
  });

  it("sends a subscriber a test message, and counts what a replay would send before it is typed", async () => {
    await open("/subscribers");
    const subscriber = panel("everything");
    await subscriber.getByRole("button", { name: "Send a test message" }).click();
    await subscriber.getByText(/^Sent: /).waitFor();
    const [queue] = z.array(z.object({ queueUrl: z.string() })).parse(JSON.parse(output("Subscribers")));
    await expect
      .poll(async () => {
        const command = new ReceiveMessageCommand({ QueueUrl: queue?.queueUrl, MaxNumberOfMessages: 10 });
        return ((await sqs.send(command)).Messages ?? []).some(({ Body = "" }) =>
          Body.includes("subscriber.test"),
        );
      })
      .toBe(true);
    await subscriber.getByRole("button", { name: "Count a replay" }).click();
    await subscriber.getByText(/^It would send \d+ messages\. .*US\$/).waitFor();
    await subscriber.getByRole("button", { name: "Replay", exact: true }).click();
    await subscriber.getByLabel(/to confirm/).fill("everything");
    await subscriber.getByRole("button", { name: "Replay", exact: true }).click();
    await subscriber.getByText(/^Sent again: \d+ messages\.$/).waitFor();
  });

  describeFigures(() => opened);

  it("shows how the provider is called, and refreshes the token at once", async () => {
    const token = async () => {
      const command = new GetSecretValueCommand({ SecretId: output("TokenSecretArn") });
      return (await secrets.send(command)).VersionId;
    };
    await open("/provider");
    await panel("Calls").getByText("closed").waitFor();
    await panel("Where webhooks go").getByText("company-accounts", { exact: true }).waitFor();
    const before = await token();
    await press("Refresh now");
    await panel("Token").getByText("The refresher says: refreshed.").waitFor();
    expect(await token()).not.toBe(before);
  });

  it("maps a webhook that is pasted, and says at once why another is none", async () => {
    await open("/mapping");
    const outcome = panel("What comes of it");
    await outcome.getByText("account.connected", { exact: true }).waitFor();
    await page.getByRole("textbox", { name: "Webhook" }).fill('{"event":"sing_account"}');
    await outcome.getByText(/No event: /).waitFor();
    const mapping = page.getByRole("textbox", { name: "Mapping" });
    const edited = (await mapping.inputValue())
      .replace("connect_account", "sing_account")
      .replaceAll(" || data.account_id || data.id", "");
    await page
      .getByRole("textbox", { name: "Webhook" })
      .fill('{"event":"sing_account","account_id":"9c858901-8a57-4791-81fe-4c455b099bc9"}');
    await mapping.fill(edited);
    await outcome.getByText("account.connected", { exact: true }).waitFor();
  });

  it("says first what is wrong once the token is revoked, and ends it by the one button beside it", async () => {
    await open("/trouble");
    await press("Revoke the token");
    await panel("The token").getByText("Every token is revoked.").waitFor();
    await page.getByRole("link", { name: "Overview" }).click();
    const verdict = panel("Verdict");
    await verdict
      .getByText(/nothing is lost/)
      .first()
      .waitFor();
    expect(await verdict.getByRole("heading").textContent()).toMatch(/token|provider/i);
    await verdict.getByRole("button", { name: "Give it a new token" }).click();
    await verdict.getByRole("heading", { name: /^(All is well|Fixed: )/ }).waitFor();
    expect((await opened.stage.run(["doctor"])).code).toBe(0);
  });

  it("has no finding of axe on any page, light or dark", async () => {
    for (const path of [...pages, `/events/${eventId()}`, ...people.addresses, "/nowhere"]) {
      await open(path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      // Whatever is still being asked for says so by three dots.
      await expect.poll(() => page.locator("main").getByText(/…$/).count()).toBe(0);
      expect({ path, found: await violationsInThemes(page) }).toEqual({ path, found: [] });
    }
  });

  it("fits on a screen of 360 px: no page is wider", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    for (const path of [...pages, `/events/${eventId()}`, ...people.addresses]) {
      await open(path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      const width = await page.evaluate("document.documentElement.scrollWidth");
      expect({ path, width }).toEqual({ path, width: 360 });
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it("is used by keys: / searches, ? helps, g and a letter go to a page", async () => {
    await open("/");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("searches").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("g");
    await page.keyboard.press("d");
    await page.getByRole("heading", { name: "Dead letters", level: 1 }).waitFor();
    await page.keyboard.press("/");
    await expect.poll(() => page.evaluate("document.activeElement?.getAttribute('type')")).toBe("search");
  });

  it("only looks without --write, on each page, and lets no second browser in by the same address", async () => {
    const { url } = await opened.start();
    const other = await opened.context.newPage();
    await other.goto(url);
    await other.getByText("Read-only", { exact: true }).waitFor();
    for (const [path, button] of [
      ["/dead-letters", "Relay again"],
      ["/subscribers", "Send a test message"],
      ["/subscribers", "Count a replay"],
      ["/provider", "Refresh now"],
      ["/provider", "Register them here"],
      [people.addresses[0], "Erase this user"],
      ["/trouble", "Trigger"],
    ] as const) {
      await other.goto(`${new URL(url).origin}${path}`);
      await other.getByRole("button", { name: button, exact: true }).first().waitFor();
      const actions = other.locator(".action button");
      for (const each of await actions.all()) expect(await each.isDisabled()).toBe(true);
    }
    expect((await other.goto(url))?.status()).toBe(403);
    await other.close();
  });

  it("makes the browser complain of nothing all the while", () => {
    expect(opened.complaints.filter((text) => !text.includes("status of 404"))).toEqual([]);
  });
});
