import { expect, it } from "vitest";
import { waitUntilIdle } from "../../support/eventually.ts";
import { type OpenedConsole, stepsOn } from "./opened-console.ts";

/** Controlling the sandbox of a local system. */
export function describeSandbox(use: () => OpenedConsole): void {
  const { open, panel, press } = stepsOn(use);
  const verdict = () => panel("Verdict").getByRole("heading", { level: 2 });
  const isLive = () => use().page.getByText("Live", { exact: true }).first().waitFor();

  it("connects an account as its user would, and watches it arrive", async () => {
    const { page, context, stage } = use();
    await open("/sandbox");
    await isLive();
    const opening = context.waitForEvent("page");
    await page.getByRole("link", { name: "Open the connect flow" }).click();
    const flow = await opening;
    await flow.getByLabel("Your name").fill("Ada Example");
    await flow.getByRole("button", { name: "Continue" }).click();
    await flow.getByRole("link", { name: "Doorstep Courier" }).click();
    await flow.getByLabel("Username").fill("test-user");
    await flow.getByLabel("Password").fill("test-password");
    await flow.getByRole("button", { name: "Connect Doorstep Courier" }).click();
    await flow.getByText("Connected to Doorstep Courier").waitFor();
    await flow.close();
    await panel("Latest events").getByText("account.updated").first().waitFor();
    const row = panel("Latest events").getByRole("row", { name: /received account\.updated account\// });
    const [, account = ""] = /account\/(\S+)/.exec((await row.first().textContent()) ?? "") ?? [];
    await expect
      .poll(async () => (await stage.run(["records", "show", "account", account, "--json"])).json())
      .toMatchObject({ state: { connected: true } });
    expect(stage.system.sandbox.snapshot().accounts).toContainEqual(
      expect.objectContaining({ connected: true }),
    );
  });

  it("makes the provider fail, shows that first, and restores it with the button beside it", async () => {
    const { page, stage } = use();
    await open("/sandbox");
    await page.getByRole("combobox", { name: "Failure" }).selectOption("503");
    await press("Start failure");
    await panel("Failures").getByText("The sandbox fails: 503.").waitFor();
    expect((await fetch(`${stage.system.sandbox.baseUrl}/api/v0.4/users`)).status).toBe(503);
    await open("/");
    await verdict()
      .getByText(/provider/i)
      .waitFor();
    const wrong = await verdict().textContent();
    await press("Recover the sandbox");
    await expect.poll(() => verdict().textContent()).not.toBe(wrong);
    expect((await fetch(`${stage.system.sandbox.baseUrl}/api/v0.4/users`)).status).not.toBe(503);
  });

  it("shows each step of an event with its time: calls that failed, the one that did not, and what was sent", async () => {
    const { page, stage } = use();
    const { users, accounts } = await stage.system.sandbox.createUsers(1);
    await waitUntilIdle(stage.system);
    const about = ["--user", users[0] ?? "", "--account", accounts[0] ?? ""];
    await stage.run(["sandbox", "fail", "503"]);
    const { id } = await stage.json("trigger", "endpoint.updated", "income", ...about);
    await open(`/events/${id}?account=${accounts[0]}`);
    await panel("endpoint.updated")
      .getByRole("link", { name: accounts[0] ?? "", exact: true })
      .waitFor();
    const steps = panel("Timeline").getByRole("listitem");
    const failed = steps.filter({ hasText: "call 1 to the provider the provider answered 503" });
    const isThere = async () => {
      await page.reload();
      await steps.first().waitFor();
      return failed.count();
    };
    await expect.poll(isThere, { interval: 1_000 }).toBe(1);
    await stage.run(["sandbox", "heal"]);
    await waitUntilIdle(stage.system);
    await page.reload();
    await steps.filter({ hasText: "to everything" }).first().waitFor();
    const texts = (await steps.allTextContents()).map((text) =>
      text.replace(/^.*?\d{2}:\d{2}:\d{2} \S+ /, ""),
    );
    expect(texts[0]).toBe("webhook in its queue");
    expect(texts[1]).toBe("stored endpoint.updated");
    expect(texts.some((text) => /^call \d+ to the provider document fetch: answered$/.test(text))).toBe(true);
    const times = await steps
      .locator("time:first-of-type")
      .evaluateAll((all) => all.map((each) => each.getAttribute("datetime") ?? ""));
    expect(times).toEqual(times.toSorted());
    expect(await failed.locator("time").count()).toBe(2);
  });

  it("lets an event run through the picture of the pipeline as a dot, from the provider on", async () => {
    const { page, stage } = use();
    await page.emulateMedia({ reducedMotion: "no-preference" });
    await open("/");
    await isLive();
    await page.locator("svg [data-node=table]").waitFor();
    expect(await page.locator("svg .dots circle").count()).toBe(0);
    const dot = page.locator("svg .dots circle").first().waitFor({ state: "attached" });
    await stage.run(["trigger", "user.created"]);
    await dot;
    await expect.poll(() => page.locator("svg .dots circle").count()).toBe(0);
  });

  it("loses an event in transit, which reconciliation recovers", async () => {
    const { page } = use();
    await open("/sandbox");
    await isLive();
    await page.getByRole("combobox", { name: "Failure" }).selectOption("drop");
    await press("Start failure");
    await panel("Failures").getByText("The sandbox fails: drop.").waitFor();
    await open("/provider");
    const reconcile = async () => {
      await press("Reconcile now");
      const said = panel("Reconciliation").getByText(/^Compared \d+ users; missing or different: \d+\.$/);
      await said.waitFor();
      return /(\d+)\.$/.exec((await said.textContent()) ?? "")?.[1];
    };
    expect(Number(await reconcile())).toBeGreaterThan(0);
    await expect.poll(reconcile, { interval: 2_000 }).toBe("0");
  });

  it("advances the provider's clock, and shows the effects", async () => {
    await open("/sandbox");
    await isLive();
    const before = Date.now();
    await panel("Clock").getByRole("combobox").selectOption("1d");
    await press("Advance clock");
    const said = panel("Clock").getByText(/^The sandbox's time is .*\.$/);
    await said.waitFor();
    const [, now = ""] = /time is (.+)\.$/.exec((await said.textContent()) ?? "") ?? [];
    expect(Date.parse(now) - before).toBeGreaterThan(23 * 3_600_000);
    // Announces the accounts' data of the next day.
    await panel("Latest events").getByText("endpoint.updated").first().waitFor();
  });
}

/** The verdict after its cause is gone. Nothing else may be wrong with the stage. */
export function describeFixed(use: () => OpenedConsole): void {
  const { open, panel, press } = stepsOn(use);
  const verdict = () => panel("Verdict").getByRole("heading", { level: 2 });

  it("shows that a cause is fixed, and when its alarm clears, which it then does", async () => {
    const { page, stage, passAlarmTime } = use();
    await open("/sandbox");
    await press("Revoke token");
    await panel("Token").getByText("All tokens are revoked.").waitFor();
    const alarm = () =>
      stage.system.stack.alarms().find(({ description }) => description.includes("#token-at-risk"));
    await open("/");
    await verdict().getByText("The provider refuses the token.").waitFor();
    const { periodSeconds = 0, evaluationPeriods = 0 } = alarm() ?? {};
    await passAlarmTime(periodSeconds * 1000);
    expect(alarm()?.state).toBe("ALARM");
    await press("Set new token");
    const fixed = verdict().getByText(/^Fixed: the alarm clears /);
    await fixed.waitFor();
    const clears = panel("Verdict")
      .getByRole("paragraph")
      .filter({ hasText: "is still on after the problem ended" });
    const at = (await clears.locator("time").getAttribute("datetime")) ?? "";
    const shown = await clears.locator("time").textContent();
    expect(await fixed.textContent()).toBe(`Fixed: the alarm clears ${shown}`);
    expect(Date.parse(at)).toBeGreaterThan(Date.now());
    await passAlarmTime(2 * periodSeconds * evaluationPeriods * 1000);
    await verdict().getByText("No problems").waitFor();
    expect(await page.getByText("Fixed: ").count()).toBe(0);
  });
}
