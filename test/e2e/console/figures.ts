import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { registerAtProvider } from "../../support/webhooks.ts";
import { type OpenedConsole, stageChanges, stepsOn } from "./opened-console.ts";

const elsewhere = "https://other.example/users";

/** Plots and figures, and the provider's page. */
export function describeFigures(use: () => OpenedConsole): void {
  const { open, panel } = stepsOn(use);
  /** Webhooks that were put into their queues. */
  const receives = () =>
    [...use().stage.system.stack.gateway.calls()]
      .filter(([call]) => /receive.* sqs:SendMessage/i.test(call))
      .reduce((sum, [, count]) => sum + count, 0);

  it("plots the pipeline's traffic of 15 minutes, or of a longer time, which the address keeps", async () => {
    await open("/");
    const plot = panel("Messages");
    await plot.getByRole("img", { name: "Messages a minute", exact: true }).waitFor();
    const webhooks = () => figureIn(plot, "webhooks");
    const received = receives();
    expect(received).toBeGreaterThan(0);
    // Reconciliations and redriven messages are in the queues too.
    await expect.poll(webhooks).toBeGreaterThanOrEqual(received);
    expect(await figureIn(plot, "messages to subscribers")).toBeGreaterThan(0);
    const line = (await plot.locator("polyline").first().boundingBox()) ?? { height: 0 };
    expect(line.height).toBeGreaterThan(10);
    await plot.getByLabel("Last").selectOption("7d");
    await plot.getByRole("img", { name: "Messages an hour", exact: true }).waitFor();
    expect(new URL(use().page.url()).search).toBe("?span=7d");
  });

  it("shows a subscriber's backlog, its rates of messages and reads, and when it last read", async () => {
    await open("/subscribers");
    const subscriber = panel("everything");
    const rate = async (name: string) =>
      Number(await subscriber.locator(`div:has(> dt:text-is("${name}")) > dd`).textContent());
    const waitingOf = async () => {
      const { queues } = await use().stage.json("status");
      return queues.find(({ name }: { name: string }) => name === "subscriber/everything")?.waiting;
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
    await panel("History").getByRole("button", { name: "Refresh", exact: true }).click();
    const rows = panel("History").getByRole("row");
    await rows
      .filter({ hasText: /reconciled.*listed \d+/ })
      .first()
      .waitFor();
    await rows.filter({ hasText: "token refreshed" }).first().waitFor();
    const { history } = await use().stage.json("status", "--section", "provider", "--since", "24h");
    const countOf = (codes: RegExp) =>
      history.filter(({ code }: { code: string }) => codes.test(code)).length;
    await expect.poll(() => rows.filter({ hasText: "reconcil" }).count()).toBe(countOf(/^RECONCIL/));
    // An outage is one line, however often it was probed.
    const outages = await rows.filter({ hasText: "outage" }).count();
    expect(outages).toBeLessThanOrEqual(countOf(/^PROVIDER_DOWN/));
  });

  it("names each setting of a file that differs from the deployment, with both values", async () => {
    const directory = await mkdtemp(join(tmpdir(), "console-settings-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const file = join(directory, "settings.json");
    const local: object = JSON.parse(await readFile("stages/local.json", "utf8"));
    const changes = { ...stageChanges, retention: { documentVersionsDays: 60 }, startEndpoints: ["profile"] };
    await writeFile(file, JSON.stringify({ ...local, ...changes }));
    const { url } = await use().start("--settings", file);
    const other = await use().context.newPage();
    onTestFinished(() => other.close());
    await other.goto(url);
    const verdict = other.getByRole("region", { name: "Verdict", exact: true });
    for (const text of [
      "retention.documentVersionsDays (deployed 30, in the file 60)",
      'in the file ["profile"])',
    ])
      await verdict.getByText(text).first().waitFor();
  });

  const fact = (of: string, name: string) => panel(of).locator(`dt:text-is("${name}") + dd`);

  it("reports a webhook that is registered elsewhere, and registers it here with a button", async () => {
    const { sandbox } = use().stage.system;
    const should = sandbox.webhook("users")?.url ?? "";
    await registerAtProvider(use().stage.system, "users", { url: elsewhere });
    await open("/provider");
    const row = panel("Webhook registrations")
      .getByRole("row")
      .filter({ has: use().page.getByRole("rowheader", { name: "users", exact: true }) });
    const cells = () => row.getByRole("cell").allTextContents();
    await expect.poll(cells).toEqual(["elsewhere", elsewhere, should]);
    await panel("Webhook registrations").getByRole("button", { name: "Register here" }).click();
    await panel("Webhook registrations").getByText("Registered: 4 kinds.").waitFor();
    await expect.poll(cells).toEqual(["here", should]);
    expect(sandbox.webhook("users")?.url).toBe(should);
  });

  it("shows who stored the token, and the calls made out of those that the rate allows", async () => {
    const { stage } = use();
    expect((await stage.run(["token", "set"], { input: await stage.system.sandbox.issueToken() })).code).toBe(
      0,
    );
    await open("/provider");
    await fact("Token", "stored by").getByText("an operator").waitFor();
    await panel("Token").getByRole("button", { name: "Refresh now" }).click();
    await fact("Token", "stored by").getByText("a refresh").waitFor();
    for (const name of ["issued", "ends"]) await fact("Token", name).locator("time").first().waitFor();
    const { requestsPerMinute } = await stage.json("status", "--section", "provider");
    const calls = (await fact("Calls", "last minute").textContent()) ?? "";
    const [, made = "", allowed = ""] = /([\d,]+) of ([\d,]+) calls/.exec(calls) ?? [];
    expect(Number(allowed.replaceAll(",", ""))).toBe(requestsPerMinute);
    expect(Number(made)).toBeGreaterThan(0);
  });
}

async function figureIn(plot: ReturnType<Page["getByRole"]>, name: string): Promise<number> {
  const text = (await plot.getByRole("listitem").filter({ hasText: name }).textContent()) ?? "";
  return Number(/: ([\d,]+) in all/.exec(text)?.[1]?.replaceAll(",", ""));
}
