import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import axe from "axe-core";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { findChromium } from "../../packages/sandbox/browser.ts";
import { type OperatedStage, startOperatedStage } from "../../support/operated-stage.ts";
import { type Program, runProgram } from "../../support/program.ts";

/** A console that was started as a person starts it, with a browser that was let in. */
export type OpenedConsole = AsyncDisposable & {
  readonly stage: OperatedStage;
  /** The console itself. */
  readonly program: Program;
  readonly origin: string;
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser has complained of. */
  readonly complaints: readonly string[];
  /** Lets so much time pass for the alarms, which are then looked at. */
  readonly passAlarmTime: (milliseconds: number) => Promise<void>;
  /** Starts one more console. */
  readonly start: (
    ...flags: readonly string[]
  ) => Promise<{ readonly program: Program; readonly url: string }>;
};

const stageName = "console";
/** What its stage has otherwise than the one on everybody's machine. */
export const stageChanges = { retention: { documentVersionsDays: 30 } };
/** The clock of alarms is behind, so that an alarm that goes off once time has passed lies in the past. */
const behindAtFirst = 2 * 3_600_000;
/** Far beyond what a busy machine takes. */
const patienceMs = 120_000;

export async function openConsole(): Promise<OpenedConsole> {
  const closers = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "console-"));
  closers.defer(() => rm(directory, { recursive: true, force: true }));
  const logs = join(directory, "logs");
  let alarmsAreBehind = behindAtFirst;
  const alarmClock = () => Date.now() - alarmsAreBehind;
  const stage = closers.use(await startOperatedStage(stageName, stageChanges, {}, { logs, alarmClock }));
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
    program,
    origin,
    context,
    page,
    complaints,
    passAlarmTime: async (milliseconds) => {
      alarmsAreBehind -= milliseconds;
      await stage.system.stack.lookAtAlarms();
    },
    start,
    [Symbol.asyncDispose]: () => closers.disposeAsync(),
  };
}

/** The header that the page's calls carry. */
export async function authorizationOf(page: Page): Promise<{ readonly authorization: string }> {
  const session = await page.evaluate('localStorage.getItem("income-events-session")');
  return { authorization: `Bearer ${session}` };
}

/** Every violation that axe finds on the page in both themes. */
export async function violationsInThemes(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    found.push(...(await violationsOn(page)).map((each) => `${colorScheme}: ${each}`));
  }
  return found;
}

/** Every violation that axe finds on the page as it stands, with where it is. */
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

/** What a test looks into for itself; both clients end with it. */
export function queuesAndObjects({ system: { access } }: OperatedStage) {
  const sqs = new SQSClient(access);
  const s3 = new S3Client({ ...access, forcePathStyle: true });
  onTestFinished(() => {
    sqs.destroy();
    s3.destroy();
  });
  return { sqs, s3 };
}
