import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import { chromium, type Page } from "playwright-core";
import { z } from "zod";
import { findChromium } from "../../packages/sandbox/browser.ts";
import { startOperatedStage } from "../../support/operated-stage.ts";
import { runProgram } from "../../support/program.ts";

/** A console started as a user does, with a signed-in browser. */
export type OpenedConsole = Awaited<ReturnType<typeof openConsole>>;

const stageName = "console";
/** Differences from the default local stage. */
export const stageChanges = { retention: { documentVersionsDays: 30 } };
/** The alarms' clock starts in the past, so that alarms raised by advancing it are not in the future. */
const behindAtFirst = 2 * 3_600_000;
/** Far longer than a busy machine needs. */
const patienceMs = 120_000;

export async function openConsole() {
  const closers = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "console-"));
  closers.defer(() => rm(directory, { recursive: true, force: true }));
  const logs = join(directory, "logs");
  let alarmsAreBehind = behindAtFirst;
  const alarmClock = () => Date.now() - alarmsAreBehind;
  // As `npm start` runs it.
  const maximumProcesses = 2;
  const runner = { logs, alarmClock, maximumProcesses };
  const stage = closers.use(await startOperatedStage(stageName, stageChanges, {}, runner));
  const start = async (...flags: readonly string[]) => {
    const program = closers.use(
      runProgram("packages/cli/main.ts", ["console", "--json", "--stage", stageName, ...flags]),
    );
    await program.printed("Ctrl-C ends it.");
    const line = program
      .output()
      .split("\n")
      .find((each) => each.startsWith("{"));
    return { program, url: z.object({ url: z.url() }).parse(JSON.parse(line ?? "")).url };
  };
  const { program, url } = await start("--write");
  const executablePath = findChromium();
  if (executablePath === undefined)
    throw new Error("no browser was found: install Chromium, or name it in CHROMIUM");
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  closers.defer(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  // Also for the first page: a busy machine bundles it for longer than the browser would wait.
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  await page.goto(url);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const { origin } = new URL(url);
  return {
    stage,
    /** The console's process. */
    program,
    origin,
    context,
    page,
    /** Errors in the browser's console. */
    complaints,
    /** Advances the alarms' clock and evaluates the alarms. */
    passAlarmTime: async (milliseconds: number) => {
      alarmsAreBehind -= milliseconds;
      await stage.system.stack.refreshAlarms();
    },
    /** Starts another console. */
    start,
    [Symbol.asyncDispose]: () => closers.disposeAsync(),
  };
}

/** A test's steps on a console, which is opened before they run. */
export function stepsOn(use: () => OpenedConsole) {
  return {
    open: (path: string) => use().page.goto(`${use().origin}${path}`),
    panel: (name: string) => use().page.getByRole("region", { name, exact: true }),
    press: (name: string) => use().page.getByRole("button", { name, exact: true }).click(),
    output: (name: string) => use().stage.output(name),
    /** What a command on the stage prints with `--json`. */
    run: async (...args: readonly string[]) => Object((await use().stage.run([...args, "--json"])).json()),
  };
}

/** The header of the page's calls. */
export async function authorizationOf(page: Page): Promise<{ readonly authorization: string }> {
  const session = await page.evaluate('localStorage.getItem("income-events-session")');
  return { authorization: `Bearer ${session}` };
}

/** Times in the page that are not in the reader's zone, except in bodies and documents. */
const isoTimes = `(() => {
  const main = document.querySelector("main").cloneNode(true);
  for (const part of main.querySelectorAll(".payload, textarea")) part.remove();
  return main.textContent.match(/\\d{4}-\\d\\d-\\d\\dT\\d\\d:.{0,20}/g) ?? [];
})()`;

/** Violations that axe finds on the page in both themes, and times in another format. */
export async function violationsInThemes(page: Page): Promise<readonly string[]> {
  const found = z.array(z.string()).parse(await page.evaluate(isoTimes));
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    found.push(...(await violationsOn(page)).map((each) => `${colorScheme}: ${each}`));
  }
  return found;
}

/** Violations that axe finds on the page, with their places. */
async function violationsOn(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const loaded: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } =
      Reflect.get(globalThis, "axe");
    const { violations } = await loaded.run();
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" ")}`,
    );
  });
}
