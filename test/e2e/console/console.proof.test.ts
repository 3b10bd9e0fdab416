import { ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { findChromium } from "../../packages/sandbox/browser.ts";
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
  "/subscribers/everything",
  "/provider",
  "/mapping",
  "/sandbox",
];

describe.skipIf(!hasBrowser)("the console in a browser", () => {
  let opened: OpenedConsole;
  let page: Page;
  let people: People;
  let sqs: SQSClient;
  beforeAll(async () => {
    opened = await openConsole();
    page = opened.page;
    people = await startPeople(opened.stage);
    const { gatewayUrl: endpoint, region, operator: credentials } = opened.stage.system.stack;
    sqs = new SQSClient({ endpoint, region, credentials });
  });
  afterAll(async () => {
    sqs?.destroy();
    await opened?.[Symbol.asyncDispose]();
  });

  const output = (name: string) => opened.stage.system.stack.outputs[name] ?? "";
  const open = (path: string) => page.goto(`${opened.origin}${path}`);
  const panel = (name: string) => page.getByRole("region", { name, exact: true });

  const eventId = describeWalk(() => opened);

  describePeople(() => ({ opened, people }));

  it("sends a subscriber a test message", async () => {
    await open("/subscribers");
    const subscriber = panel("everything");
    await subscriber.getByRole("button", { name: "Send test message" }).click();
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
  });

  describeFigures(() => opened);

  it("maps a pasted webhook, and reports at once why another is invalid", async () => {
    await open("/mapping");
    const outcome = panel("Result");
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

  it("has no finding of axe on any page, light or dark, at 1280 and at 360 px, and no page is wider", async () => {
    for (const path of [...pages, `/events/${eventId()}`, ...people.addresses, "/nowhere"]) {
      await open(path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      // Pending requests are shown as "…".
      await expect.poll(() => page.locator("main").getByText(/…$/).count()).toBe(0);
      expect({ path, found: await violationsInThemes(page) }).toEqual({ path, found: [] });
      await page.setViewportSize({ width: 360, height: 740 });
      const width = () => page.evaluate("document.documentElement.scrollWidth");
      await expect.poll(async () => ({ path, width: await width() })).toEqual({ path, width: 360 });
      expect({ path, found: await violationsInThemes(page) }).toEqual({ path, found: [] });
      await page.setViewportSize({ width: 1280, height: 900 });
    }
  });

  it("is read-only without --write on each page, and admits no second browser with the same URL", async () => {
    const { url } = await opened.start();
    const other = await opened.context.newPage();
    await other.goto(url);
    await other.getByText("Read-only", { exact: true }).waitFor();
    for (const [path, button] of [
      ["/dead-letters", "Relay"],
      ["/subscribers", "Send test message"],
      ["/subscribers", "Count replay"],
      ["/provider", "Refresh now"],
      ["/provider", "Register here"],
      [people.addresses[0], "Erase this user"],
      ["/sandbox", "Trigger"],
    ] as const) {
      await other.goto(`${new URL(url).origin}${path}`);
      await other.getByRole("button", { name: button, exact: true }).first().waitFor();
      // A look at personal data changes only the audit trail.
      const actions = other.locator(".action button").filter({ hasNotText: "Show personal data" });
      for (const each of await actions.all()) expect(await each.isDisabled()).toBe(true);
    }
    await other.close();
    const second = await opened.context.browser()?.newContext();
    if (second === undefined) throw new Error("the browser is gone");
    onTestFinished(() => second.close());
    const refused = await second.newPage();
    await refused.goto(url);
    await refused.getByText("This browser has no access.").waitFor();
  });

  it("causes no error in the browser", () => {
    expect(opened.complaints.filter((text) => !text.includes("status of 404"))).toEqual([]);
  });
});
