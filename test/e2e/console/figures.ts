import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { waitUntilIdle } from "../../support/eventually.ts";
import { type OpenedConsole, stageChanges, violationsInThemes } from "./opened-console.ts";

const triggered = z.object({ id: z.string() });
const provided = z.object({ history: z.array(z.object({ code: z.string() })) });

const listed = z.object({ queues: z.array(z.object({ name: z.string(), waiting: z.number() })) });

/** Plots and figures. */
export function describeFigures(use: () => OpenedConsole): void {
  const open = (path: string) => use().page.goto(`${use().origin}${path}`);
  const panel = (name: string) => use().page.getByRole("region", { name, exact: true });
  /** Webhooks that were put into their queues. */
  const receives = () =>
    [...use().stage.system.stack.gateway.calls()]
      .filter(([call]) => /receive.* sqs:SendMessage/i.test(call))
      .reduce((sum, [, count]) => sum + count, 0);

  it("plots the pipeline's traffic of 15 minutes, and no longer range without older data", async () => {
    await open("/");
    const plot = panel("Last 15 minutes");
    await plot.getByRole("img", { name: "Messages a minute", exact: true }).waitFor();
    const webhooks = () => figureIn(plot, "webhooks");
    const received = receives();
    expect(received).toBeGreaterThan(0);
    // Reconciliations and redriven messages are in the queues too.
    await expect.poll(webhooks).toBeGreaterThanOrEqual(received);
    expect(await figureIn(plot, "messages to subscribers")).toBeGreaterThan(0);
    expect(await isDrawn(use().page, "Last 15 minutes")).toBe(true);
    expect(await panel("Last 7 days").count()).toBe(0);
  });

  it("shows a subscriber's backlog, its rates of messages and reads, and when it last read", async () => {
    await open("/subscribers");
    const subscriber = panel("everything");
    const rate = async (name: string) =>
      Number(await subscriber.locator(`div:has(> dt:text-is("${name}")) > dd`).textContent());
    const waitingOf = async () => {
      const { queues } = listed.parse((await use().stage.run(["status", "--json"])).json());
      return queues.find(({ name }) => name === "subscriber/everything")?.waiting;
    };
    await expect.poll(async () => (await rate("waiting")) === (await waitingOf())).toBe(true);
    const behind = subscriber.locator('div:has(> dt:text-is("oldest")) > dd');
    await expect.poll(() => behind.textContent()).toMatch(/^(\d+[smh] ?)+$/);
    expect(await rate("dead letters")).toBe(0);
    await expect.poll(() => rate("sent per minute")).toBeGreaterThan(0);
    await expect.poll(() => rate("read per minute")).toBeGreaterThan(0);
    await subscriber
      .locator('dt:text-is("last read") + dd')
      .getByText(/^within the last |^\d+m ago$/)
      .waitFor();
  });

  it("pauses a replay whose messages were counted first, and resumes it", async () => {
    await open("/subscribers");
    const subscriber = panel("everything");
    const button = (name: string) => subscriber.getByRole("button", { name, exact: true });
    const confirm = async (name: string) => {
      await button(name).click();
      await subscriber.getByLabel(/to confirm/).fill("everything");
      await button(name).click();
    };
    const said = async (words: RegExp) => {
      await subscriber.getByText(words).waitFor();
      return Number(words.exec((await subscriber.getByText(words).textContent()) ?? "")?.[1]);
    };
    expect(await button("Replay").isDisabled()).toBe(true);
    await button("Count replay").click();
    const counted = await said(/^A replay sends (\d+) messages\./);
    expect(counted).toBeGreaterThan(10);
    const { gateway } = use().stage.system.stack;
    const hurry = gateway.intercept(async ({ principal, action }, phase) =>
      principal === "operator" && action === "sqs:SendMessageBatch" && phase === "before"
        ? { delayAnswerMs: 3_000 }
        : undefined,
    );
    await confirm("Replay");
    await button("Pause").click();
    const sent = await said(/^Paused\. Sent: (\d+) messages\.$/);
    hurry();
    expect(sent).toBeLessThan(counted);
    await confirm("Resume replay");
    expect(await said(/^Sent: (\d+) messages\.$/)).toBeGreaterThanOrEqual(counted);
    const acts = await use().stage.run(["audit", "list", "--act", "replay", "--json"]);
    expect(JSON.stringify(acts.json())).toContain(`"count":${sent}`);
  });

  it("lists outages, token refreshes and reconciliation findings, as the command does", async () => {
    await open("/provider");
    await panel("Token").getByRole("button", { name: "Refresh now", exact: true }).click();
    await panel("Token").getByText("Result: refreshed.").waitFor();
    await panel("Reconciliation").getByRole("button", { name: "Reconcile now", exact: true }).click();
    await panel("Reconciliation")
      .getByText(/^Compared \d+ users/)
      .waitFor();
    await use().page.getByRole("button", { name: "Refresh", exact: true }).first().click();
    const found = panel("Reconciliations");
    await found.getByRole("cell", { name: "completed" }).first().waitFor();
    await panel("Token history").getByText("refreshed", { exact: true }).first().waitFor();
    const said = await use().stage.run(["status", "--section", "provider", "--since", "24h", "--json"]);
    const { history } = provided.parse(said.json());
    const countOf = (codes: RegExp) => history.filter(({ code }) => codes.test(code)).length;
    await expect.poll(() => found.getByRole("row").count()).toBe(countOf(/^RECONCIL/) + 1);
    // An outage is one line, however often it was probed.
    const outages = await panel("Outages").getByRole("listitem").count();
    expect(outages).toBeLessThanOrEqual(countOf(/^PROVIDER_DOWN/));
  });

  it("maps a webhook of another kind, and a received one whose body is revealed on request, which is logged", async () => {
    const { page, stage } = use();
    const said = (await stage.run(["trigger", "user.updated", "--json"])).json();
    const { id } = triggered.parse(said);
    await waitUntilIdle(stage.system);
    await open("/mapping");
    const outcome = panel("Result");
    await outcome.getByText("account.connected", { exact: true }).waitFor();
    await page.getByRole("combobox", { name: "Kind" }).selectOption("endpoints");
    await outcome.getByText("endpoint.updated", { exact: true }).waitFor();
    await page.getByRole("combobox", { name: "Kind" }).selectOption("users");
    await outcome.getByText("user.created", { exact: true }).waitFor();
    await panel("Webhook").getByRole("button", { name: "Choose a received webhook", exact: true }).click();
    const came = page.getByRole("combobox", { name: "Received webhook" });
    await came.locator(`option[value="${id}"]`).waitFor({ state: "attached" });
    await came.selectOption(id);
    const looks = async () =>
      JSON.stringify((await stage.run(["audit", "list", "--act", "reveal", "--json"])).json());
    expect(await looks()).not.toContain("event user.updated");
    await panel("Webhook").getByRole("button", { name: "Load body", exact: true }).click();
    await outcome.getByText("user.updated", { exact: true }).waitFor();
    expect(await page.getByRole("textbox", { name: "Webhook" }).inputValue()).toContain("update_user");
    expect(await looks()).toContain("event user.updated");
    expect(await violationsInThemes(page)).toEqual([]);
  });

  it("lists each setting of a file that differs from the deployment, with both values", async () => {
    const directory = await mkdtemp(join(tmpdir(), "console-settings-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const file = join(directory, "settings.json");
    const local: object = JSON.parse(await readFile("stages/local.json", "utf8"));
    const write = (more: object) => writeFile(file, JSON.stringify({ ...local, ...stageChanges, ...more }));
    await write({});
    const { url } = await use().start("--settings", file);
    const other = await use().context.newPage();
    onTestFinished(() => other.close());
    await other.goto(url);
    await other.getByRole("link", { name: "Mapping", exact: true }).click();
    const compared = other.getByRole("region", { name: "Deployed settings", exact: true });
    await compared.getByText(/settings\.json matches the deployed settings\.$/).waitFor();
    await write({ startEndpoints: ["profile"], retention: { documentVersionsDays: 60 } });
    await other.reload();
    const rows = compared.getByRole("table").getByRole("row");
    await expect.poll(() => rows.count()).toBe(3);
    const texts = async (index: number) => rows.nth(index).locator("th, td").allTextContents();
    expect(await texts(1)).toEqual(["retention.documentVersionsDays", "30", "60"]);
    expect(await texts(2)).toEqual(["startEndpoints", expect.stringMatching(/^\[.*,.*\]$/), '["profile"]']);
  });
}

async function figureIn(plot: ReturnType<Page["getByRole"]>, name: string): Promise<number> {
  const text = (await plot.getByRole("listitem").filter({ hasText: name }).textContent()) ?? "";
  return Number(/: ([\d,]+) in all/.exec(text)?.[1]?.replaceAll(",", ""));
}

function isDrawn(page: Page, title: string): Promise<unknown> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector('[aria-label="${title}"] canvas');
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value) => value > 0);
  })()`);
}
