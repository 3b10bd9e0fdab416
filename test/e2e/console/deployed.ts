import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { runProgram } from "../../support/program.ts";
import { authorizationOf, type OpenedConsole } from "./opened-console.ts";

const asked = z.object({ MetricDataQueries: z.array(z.unknown()) });
/** US dollars. Source: Amazon CloudWatch pricing, us-east-1. */
const perMetric = 0.01 / 1000;

/** The console of a stage in AWS, simulated by the local one: with outputs, credentials and a URL. */
export function describeDeployed(use: () => OpenedConsole): void {
  /** Opens a console that treats the stage as deployed. */
  const openDeployed = async () => {
    const { stack } = use().stage.system;
    const directory = await mkdtemp(join(tmpdir(), "deployed-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const file = join(directory, "outputs.json");
    await writeFile(file, JSON.stringify({ [stack.name]: stack.outputs }));
    const program = runProgram(
      "packages/cli/main.ts",
      ["console", "--json", "--outputs", file],
      use().stage.asAws,
    );
    onTestFinished(() => program[Symbol.asyncDispose]());
    await program.printed("Ctrl-C ends it.");
    const line = program
      .output()
      .split("\n")
      .find((each) => each.startsWith("{"));
    const { url } = z.object({ url: z.url() }).parse(JSON.parse(line ?? ""));
    const page = await use().context.newPage();
    onTestFinished(() => page.close());
    await page.goto(url);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    return page;
  };

  it("states the cost of monitoring a deployed stage, polls once a minute for all pages, and shows no sandbox", async () => {
    const rounds: number[] = [];
    const { gateway } = use().stage.system.stack;
    // Closes the first console meanwhile, which polls the same stage.
    await use().page.goto("about:blank");
    const end = gateway.intercept(async ({ principal, action, body }, phase) => {
      if (principal === "operator" && action === "cloudwatch:GetMetricData" && phase === "before")
        rounds.push(asked.parse(JSON.parse(String(body))).MetricDataQueries.length);
      return undefined;
    });
    onTestFinished(end);
    const started = performance.now();
    const page = await openDeployed();
    const isShown = async () => {
      await page.getByRole("region", { name: "Verdict" }).getByRole("heading", { level: 2 }).waitFor();
      await page.locator("section.verdict:not(.verdict-waiting)").waitFor();
      await page.getByRole("region", { name: "Queues in numbers" }).getByRole("rowheader").first().waitFor();
      await page.getByRole("img", { name: "Messages a minute" }).first().waitFor();
      // As if somebody looked at the seven days, which the price contains.
      const { origin } = new URL(page.url());
      await page.request.get(`${origin}/api/traffic?span=7d`, { headers: await authorizationOf(page) });
    };
    await isShown();
    const first = rounds.reduce((sum, count) => sum + count, 0);
    for (let time = 0; time < 3; time += 1) {
      await page.reload();
      await isShown();
    }
    const minutes = Math.ceil((performance.now() - started) / 60_000);
    expect(rounds.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(first * minutes);

    const said = (await page.getByText(/^Reads metrics every 60 s/).textContent()) ?? "";
    const shown = Number(/about US\$ ([\d.]+) an hour/.exec(said)?.[1]);
    const queues = await page
      .getByRole("region", { name: "Queues in numbers" })
      .getByRole("rowheader")
      .count();
    // Requests per minute: the two of seven days for each queue are made every ten minutes.
    const perMinute = first - 2 * queues + (2 * queues) / 10;
    expect(shown).toBeCloseTo(perMinute * 60 * perMetric, 3);
    const documented = await readFile("docs/operate/console.md", "utf8");
    expect(documented).toContain(`With nine queues that is US$ ${((shown / queues) * 9).toFixed(2)} an hour`);

    await page.getByText("Read-only", { exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "Sandbox" }).count()).toBe(0);
    const { origin } = new URL(page.url());
    const headers = { origin, "sec-fetch-site": "same-origin", ...(await authorizationOf(page)) };
    const failing = await page.request.post(`${origin}/api/sandbox/fail`, { headers, data: { how: "503" } });
    expect(failing.status()).toBe(403);
  });
}
