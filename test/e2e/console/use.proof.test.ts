import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { findChromium } from "../../packages/sandbox/browser.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import { describeDeadLetters } from "./dead-letters.ts";
import { describeDeployed } from "./deployed.ts";
import { describeHistory } from "./history.ts";
import { type OpenedConsole, openConsole, stepsOn } from "./opened-console.ts";
import { describeFixed, describeSandbox } from "./sandbox.ts";

const hasBrowser = findChromium() !== undefined || process.env.FORBID_SKIPS !== undefined;

describe.skipIf(!hasBrowser)("a user of the console", () => {
  let opened: OpenedConsole;
  let page: Page;
  beforeAll(async () => {
    opened = await openConsole();
    page = opened.page;
  });
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]();
  });

  const { open, panel } = stepsOn(() => opened);
  const trigger = async (type: string) => {
    const { id } = await opened.stage.json("trigger", type);
    await waitUntilIdle(opened.stage.system);
    return String(id);
  };
  /** Another person's browser in another time zone. */
  const otherBrowser = async (timezoneId: string) => {
    const browser = opened.context.browser();
    if (browser === null) throw new Error("the browser is gone");
    const context = await browser.newContext({ timezoneId });
    onTestFinished(() => context.close());
    return context.newPage();
  };
  const letIn = async (timezoneId: string) => {
    const other = await otherBrowser(timezoneId);
    const { url } = await opened.start();
    await other.goto(url);
    await other.getByRole("heading", { name: "Overview" }).waitFor();
    return { other, origin: new URL(url).origin };
  };

  it("sees on each empty page what to do", async () => {
    for (const [path, words] of [
      ["/", /No events since this page was opened.*npx income-events trigger/],
      ["/events", /No events found\. Choose a longer period, or trigger one: npx income-events trigger/],
      ["/records", /No events in the last 24 hours/],
      ["/dead-letters", /No dead letters\./],
      ["/dead-letters", /No undelivered changes\./],
      ["/subscribers", /No messages sent yet\. Send a test message, or trigger an event/],
      ["/sandbox", /No events since this page was opened\..*Trigger one/],
    ] as const) {
      await open(path);
      await page.locator("main").getByText(words).first().waitFor();
    }
    await open("/mapping");
    await page.getByRole("textbox", { name: "Webhook" }).fill("");
    await panel("Result")
      .getByText(/^Paste the body of a webhook above/)
      .waitFor();
  });

  describeFixed(() => opened);

  it("chooses light or dark, which the page keeps when it is opened again", async () => {
    await open("/");
    const background = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    const button = page.getByRole("button", { name: /^Theme: / });
    await button.click();
    await page.getByRole("button", { name: "Theme: light" }).waitFor();
    const light = await background();
    await button.click();
    await page.getByRole("button", { name: "Theme: dark" }).waitFor();
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.getByRole("button", { name: "Theme: dark" }).waitFor();
    expect(await background()).toBe(dark);
    await button.click();
    await page.emulateMedia({ colorScheme: "light" });
    expect(await background()).toBe(light);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await background()).toBe(dark);
    await page.emulateMedia({ colorScheme: "light" });
  });

  it("sends an address to a colleague, whose own console shows the same in their time, with its zone", async () => {
    const id = await trigger("user.created");
    await open(`/events/${id}`);
    const time = panel("user.created").locator("time");
    const at = (await time.getAttribute("datetime")) ?? "";
    const utc = `${at.slice(0, 19).replace("T", " ")} UTC`;
    expect(page.url()).not.toContain("token");
    const { pathname, search } = new URL(page.url());
    const stranger = await otherBrowser("UTC");
    await stranger.goto(page.url());
    await stranger.getByText("This browser has no access.").waitFor();
    expect(await stranger.content()).not.toContain(id);
    const texts: string[] = [];
    for (const zone of ["Asia/Kolkata", "America/Los_Angeles"]) {
      const { other, origin } = await letIn(zone);
      await other.goto(`${origin}${pathname}${search}`);
      const shown = other.getByRole("region", { name: "user.created", exact: true }).locator("time");
      expect(await shown.getAttribute("title")).toBe(utc);
      const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;
      const inZone = new Intl.DateTimeFormat("en-US", { ...clock, timeZone: zone, timeZoneName: "short" });
      const text = (await shown.textContent()) ?? "";
      expect(text).toContain(inZone.format(new Date(at)));
      texts.push(text);
    }
    expect(texts[0]).not.toBe(texts[1]);
  });

  it("copies the command that does the same as the page, which then does it", async () => {
    await opened.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const id = await trigger("user.created");
    await open(`/events/${id}`);
    await panel("user.created").waitFor();
    await page.getByRole("button", { name: /^Copy the command: npx income-events events show/ }).click();
    await page.getByText("Copied", { exact: true }).waitFor();
    const line = String(await page.evaluate("navigator.clipboard.readText()"));
    expect(line).toBe(`npx income-events events show ${id}`);
    const shown = await opened.stage.run([...line.split(" ").slice(2), "--json"]);
    expect(shown.json()).toMatchObject({ event: { id } });
    for (const path of ["/events", "/dead-letters", "/subscribers", "/provider"]) {
      await open(path);
      await page
        .getByRole("button", { name: /^Copy the command: npx income-events / })
        .first()
        .waitFor();
    }
  });

  it("reaches everything by keyboard, without shortcuts while typing in a field", async () => {
    await open("/");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    for (const [letter, name] of [
      ["e", "Events"],
      ["u", "Users and accounts"],
      ["d", "Dead letters"],
      ["s", "Subscribers"],
      ["p", "Provider"],
      ["m", "Mapping"],
      ["t", "Sandbox"],
      ["o", "Overview"],
    ] as const) {
      await page.keyboard.press("g");
      await page.keyboard.press(letter);
      await page.getByRole("heading", { name, level: 1 }).waitFor();
    }
    await page.keyboard.press("/");
    const search = page.getByRole("searchbox");
    await expect
      .poll(() => search.evaluate((field) => field === field.ownerDocument.activeElement))
      .toBe(true);
    await page.keyboard.type("/?gd");
    expect(await search.inputValue()).toBe("/?gd");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Find");
  });

  describeDeadLetters(() => opened);
  describeHistory(() => opened);
  describeDeployed(() => opened);
  describeSandbox(() => opened);
});
