import type { SandboxOptions } from "@income-events/sandbox/server.ts";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { findChromium, useBrowser } from "./browser.ts";
import { registerAll, sandboxFor, startReceiver } from "./support.ts";

const executable = findChromium();
const forbidden = process.env.FORBID_SKIPS !== undefined;
if (executable === undefined) {
  process.stderr.write("no Chromium found: the connection flow is not tested in a browser (set CHROMIUM)\n");
}

/** Violations that axe finds on the page, with their places. */
async function violationsOn(page: Page): Promise<string[]> {
  // Bypasses the page's own CSP, which would block the script.
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setBypassCSP", { enabled: true });
  await page.reload();
  await page.addScriptTag({ content: axe.source });
  return page.evaluate(async () => {
    const loaded: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } =
      Reflect.get(globalThis, "axe");
    const { violations } = await loaded.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  });
}

describe.skipIf(executable === undefined && !forbidden)("in a browser", () => {
  const openPage = useBrowser(executable);

  async function start(options: SandboxOptions = {}) {
    const { url, received } = await startReceiver();
    const sandbox = await sandboxFor({ signInDurationMs: 400, ...options });
    await registerAll(sandbox, url);
    const page = await openPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text());
    });
    await page.goto(`${sandbox.baseUrl}/connect`);
    return { sandbox, received, page, errors };
  }

  test("the whole flow is done with the keyboard alone", async () => {
    const { sandbox, received, page, errors } = await start();
    const logo = page.locator("header img");
    expect(await logo.evaluate((image) => Reflect.get(image, "naturalWidth"))).toBeGreaterThan(0);
    const tabTo = async (name: string) => {
      for (let pressed = 0; pressed < 40; pressed += 1) {
        await page.keyboard.press("Tab");
        const focused = await page.evaluate<string>(
          `document.activeElement.id || document.activeElement.textContent.trim()`,
        );
        if (focused.endsWith(name)) return;
      }
      throw new Error(`${name} can't be reached with the Tab key`);
    };
    await tabTo("name");
    await page.keyboard.type("Ada");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Where do you earn?" }).waitFor();
    await tabTo("Gigsmith");
    await page.keyboard.press("Enter");
    await page.getByLabel("Username").waitFor();
    await tabTo("username");
    await page.keyboard.type("test-user");
    await tabTo("password");
    await page.keyboard.type("test-password");
    await page.keyboard.press("Enter");
    await page.getByText("Connected to Gigsmith").waitFor();
    expect(await page.title()).toContain("Gigsmith is connected");
    expect(sandbox.snapshot().accounts).toMatchObject([{ connected: true }]);
    await sandbox.waitUntilIdle();
    expect(received).toHaveLength(3);
    expect(errors).toEqual([]);
  });

  test("no page has an accessibility violation", async () => {
    const { sandbox, page } = await start({ signInDurationMs: 60_000 });
    const found: Record<string, string[]> = {};
    const look = async (name: string) => {
      found[name] = await violationsOn(page);
    };
    await look("registration");
    await page.getByLabel("Your name").fill("Ada");
    await page.getByRole("button", { name: "Continue" }).click();
    await look("choice");
    await page.getByRole("link", { name: "Paylane" }).click();
    await look("credentials");
    await page.getByLabel("Username").fill("test-locked");
    await page.getByLabel("Password").fill("test-password");
    await page.getByRole("button", { name: "Connect Paylane" }).click();
    await look("signing in");
    await sandbox.advance(61);
    await look("refused");
    await page.goto(`${sandbox.baseUrl}/connect/nowhere`);
    await look("error");
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, []])));
    expect(Object.keys(found)).toHaveLength(6);
  });

  test("nothing is wider than a small screen, however long a name is", async () => {
    const { sandbox, page } = await start();
    await page.setViewportSize({ width: 320, height: 640 });
    const wide = async () => {
      const elements = `[...document.body.querySelectorAll("*:not(.skip)")]`;
      return page.evaluate<string[]>(
        `${elements}.filter((one) => one.getBoundingClientRect().right > 320 || one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0).map((one) => one.outerHTML.slice(0, 80))`,
      );
    };
    const found = [await wide()];
    await page.getByLabel("Your name").fill("Wolfeschlegelsteinhausen".repeat(4));
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("link", { name: "Stubhouse Payroll" }).click();
    await page.getByLabel("Username").waitFor();
    found.push(await wide());
    await page.getByLabel("Username").fill("test-user");
    await page.getByLabel("Password").fill("test-password");
    await page.getByRole("button", { name: /^Connect / }).click();
    await page.getByText("Connected to Stubhouse Payroll").waitFor();
    found.push(await wide());
    await page.getByRole("link", { name: "Connect another platform" }).click();
    await page.getByText("Wolfeschlegel").waitFor();
    found.push(await wide());
    expect(found).toEqual([[], [], [], []]);
    expect(sandbox.snapshot().accounts).toMatchObject([{ connected: true }]);
  });
});
