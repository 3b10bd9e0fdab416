import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { clientsOf } from "../../../proof/scenario/clients.ts";
import { findChromium } from "../../packages/sandbox/browser.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import { postWebhook } from "../../support/webhooks.ts";
import { describeFigures } from "./figures.ts";
import { type OpenedConsole, openConsole, stepsOn, violationsInThemes } from "./opened-console.ts";
import { describePeople, type People, startPeople } from "./people.ts";

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
  beforeAll(async () => {
    opened = await openConsole();
    page = opened.page;
    people = await startPeople(opened.stage);
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  const { open, output, panel, press, run } = stepsOn(() => opened);

  describePeople(() => ({ opened, people }));

  it("sends a subscriber a test message", async () => {
    await open("/subscribers");
    const subscriber = panel("everything");
    await subscriber.getByRole("button", { name: "Send test message" }).click();
    await subscriber.getByText(/^Sent: /).waitFor();
    using clients = clientsOf(opened.stage.system.access);
    const QueueUrl = output("SubscriberEverythingQueueUrl");
    const receive = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 });
    await expect
      .poll(async () => JSON.stringify((await clients.sqs.send(receive)).Messages))
      .toContain("subscriber.test");
  });

  describeFigures(() => opened);

  it("maps a pasted webhook, and reports at once why another is invalid", async () => {
    await open("/mapping");
    const outcome = panel("Result");
    for (const [kind, type] of [
      ["endpoints", "endpoint.updated"],
      ["users", "user.created"],
      ["accounts", "account.connected"],
    ] as const) {
      await page.getByRole("combobox", { name: "Kind" }).selectOption(kind);
      await outcome.getByText(type, { exact: true }).waitFor();
    }
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

  it("has no finding of axe on any page, with dialogs and forms open, light or dark, and no page is wider than 360 px", async () => {
    await postWebhook(opened.stage.system, "users", { action: "sing" });
    const { id } = await run("trigger", "user.created");
    await waitUntilIdle(opened.stage.system);
    const reveal = async () => {
      await press("Show personal data");
      await page.getByLabel("The body", { exact: true }).waitFor();
    };
    const states: readonly (readonly [path: string, prepare: () => Promise<unknown>])[] = [
      ...[...pages, ...people.addresses, "/nowhere"].map((path) => [path, async () => undefined] as const),
      ["/", () => page.keyboard.press("?").then(() => page.getByRole("dialog").waitFor())],
      [`/events/${id}`, reveal],
      [
        "/subscribers",
        async () => {
          await panel("everything").getByRole("button", { name: "Count replay", exact: true }).click();
          await panel("everything").getByRole("button", { name: "Replay", exact: true }).click();
          await panel("everything")
            .getByLabel(/to confirm/)
            .waitFor();
        },
      ],
      [
        "/dead-letters?queue=users",
        async () => {
          await page.getByText("users event").click();
          await reveal();
          await press("Purge it");
          await page.getByLabel(/to confirm/).waitFor();
        },
      ],
      [
        "/mapping",
        async () => {
          await page.getByRole("textbox", { name: "Webhook" }).fill("{");
          await panel("Result")
            .getByText(/No event: |JSON/)
            .first()
            .waitFor();
        },
      ],
      ["/records?kind=user&id=nobody", () => page.getByRole("alert").first().waitFor()],
    ];
    for (const [path, prepare] of states) {
      await open(path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      // Pending requests are shown as "…".
      await expect.poll(() => page.locator("main").getByText(/…$/).count()).toBe(0);
      await prepare();
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
