import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createAccountConcurrency } from "@income-events/local-stack/lambda/account-concurrency.ts";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { answerOf, hosted } from "./hosting.ts";

const identity = "export const handler = async () => process.pid;";
/** Waits in the handler until a file exists, so that tests control its end. */
const gated = `
import { existsSync, watch } from "node:fs";
export const handler = async () => {
  console.log("started");
  await new Promise((resolve) => {
    const watcher = watch(".", () => { if (existsSync("gate")) { watcher.close(); resolve(); } });
    if (existsSync("gate")) { watcher.close(); resolve(); }
  });
  return process.pid;
};`;

async function openGate(directory: string): Promise<void> {
  await writeFile(`${directory}/gate`, "");
}

describe("a handler that can't be loaded fails every invocation and is reported once", () => {
  test.each([
    ["a module that throws", "throw new Error('no settings');", "Error: no settings"],
    ["a syntax error", "export const handler = (", "Runtime.UserCodeSyntaxError: Unexpected end of input"],
    ["a missing module", "import 'nowhere';", "Runtime.ImportModuleError: Cannot find package 'nowhere'"],
    ["a missing export", "export const other = 1;", "Runtime.HandlerNotFound: index.handler is undefined"],
  ])("%s", async (_, source, reason) => {
    await using work = await hosted(source);
    for (const _attempt of [1, 2]) expect(await work.host.invoke("{}")).toMatchObject({ kind: "failed" });
    expect(work.host.initErrors()).toEqual([expect.stringContaining(reason)]);
    expect(work.host.counts()).toMatchObject({ errors: 2, coldStarts: 2 });
  });

  const hangs = "await new Promise((resolve) => setTimeout(resolve, 1e6));";
  test("once it ran out of its time twice in a row", async () => {
    const times = [{ timeoutSeconds: 0.2 }, { shortestImport: 0.2 }] as const;
    await using work = await hosted(`${hangs} export const handler = () => 1;`, ...times);
    expect(await work.host.invoke("{}")).toMatchObject({
      kind: "failed",
      error: { errorType: "Sandbox.Timedout" },
    });
    expect(work.host.initErrors()).toEqual([expect.stringContaining("timed out after 0.20 seconds")]);
    expect(work.host.counts()).toMatchObject({ errors: 1, coldStarts: 2 });
  });

  test("but one whose import ran out of its time once is begun again, and serves", async () => {
    const hangsOnce = `import { existsSync, writeFileSync } from "node:fs";
      if (!existsSync("begun")) { writeFileSync("begun", ""); ${hangs} }
      export const handler = () => 1;`;
    // Longer than an import takes on a busy machine.
    await using work = await hosted(hangsOnce, { timeoutSeconds: 4 }, { shortestImport: 4 });
    expect(await answerOf(work.host)).toBe(1);
    expect(work.host.initErrors()).toEqual([]);
    expect(work.host.counts()).toMatchObject({ errors: 0, coldStarts: 2, running: 0 });
  });
});

describe("concurrency", () => {
  test("of the account is shared by the functions that have none reserved; over it they are throttled", async () => {
    const account = createAccountConcurrency([2], 3);
    await using one = await hosted(gated, {}, { account });
    await using other = await hosted(identity, {}, { account });
    await using reserving = await hosted(identity, { reservedConcurrency: 2 }, { account });
    const first = one.host.invoke("{}");
    expect(await other.host.invoke("{}")).toEqual({ kind: "throttled" });
    expect(other.host.counts()).toMatchObject({ throttles: 1, invocations: 0 });
    expect(await reserving.host.invoke("{}")).toMatchObject({ kind: "returned" });
    await openGate(one.host.plan.directory);
    expect(await first).toMatchObject({ kind: "returned" });
    expect(await other.host.invoke("{}")).toMatchObject({ kind: "returned" });
    const end = account.occupy(1);
    expect(await other.host.invoke("{}")).toEqual({ kind: "throttled" });
    end();
    expect(await other.host.invoke("{}")).toMatchObject({ kind: "returned" });
  });

  test("a warm process is used again", async () => {
    await using work = await hosted(identity);
    expect(await answerOf(work.host)).toBe(await answerOf(work.host));
    expect(work.host.counts()).toMatchObject({ invocations: 2, coldStarts: 1 });
  });

  test("invocations at once have a process each, up to the cap of this machine; the others wait", async () => {
    await using work = await hosted(gated);
    const answers = [1, 2, 3].map(() => answerOf(work.host));
    await eventually(() => expect(work.lines).toEqual(["started", "started"]));
    expect(work.host.counts()).toMatchObject({ running: 2, coldStarts: 2 });
    await openGate(work.host.plan.directory);
    expect(new Set(await Promise.all(answers)).size).toBe(2);
    expect(work.host.counts()).toMatchObject({ invocations: 3, coldStarts: 2, throttles: 0 });
  });

  test("over its reserved concurrency a function is throttled", async () => {
    await using work = await hosted(gated, { reservedConcurrency: 1 });
    const first = answerOf(work.host);
    expect(await work.host.invoke("{}")).toEqual({ kind: "throttled" });
    await openGate(work.host.plan.directory);
    await first;
    expect(work.host.counts()).toMatchObject({ invocations: 1, throttles: 1 });
    expect(await work.host.invoke("{}")).toMatchObject({ kind: "returned" });
  });
});

describe("ending", () => {
  test("killing busy processes ends the running one, and the next invocation gets a new one", async () => {
    await using work = await hosted(gated);
    const answer = work.host.invoke("{}");
    await eventually(() => expect(work.lines).toEqual(["started"]));
    expect(work.host.killWorking()).toBe(1);
    expect(await answer).toMatchObject({
      kind: "failed",
      error: { errorType: "Runtime.ExitError", errorMessage: expect.stringContaining("signal: killed") },
    });
    await openGate(work.host.plan.directory);
    expect(await work.host.invoke("{}")).toMatchObject({ kind: "returned" });
    expect(work.host.counts().coldStarts).toBe(2);
  });

  test("a process that is killed while it imports is no handler that can't be loaded", async () => {
    await using work = await hosted("console.log('importing'); await new Promise(() => {});");
    const answer = work.host.invoke("{}");
    await eventually(() => expect(work.lines).toEqual(["importing"]));
    expect(work.host.kill()).toBe(1);
    expect(await answer).toMatchObject({ kind: "failed", error: { errorType: "Runtime.ExitError" } });
    expect(work.host.initErrors()).toEqual([]);
  });
});

const hostModule = new URL("../../../../packages/local-stack/lambda/function-process.ts", import.meta.url)
  .href;

test("a function's process ends when the runner is killed", async () => {
  const directory = await mkdtemp(join(tmpdir(), "function-"));
  await writeFile(join(directory, "index.mjs"), "export const handler = () => new Promise(() => {});");
  const plan = { directory, handler: "index.handler", memoryMb: 128, timeoutSeconds: 60 };
  await writeFile(
    join(directory, "runner.mjs"),
    `import { startFunctionProcess } from ${JSON.stringify(hostModule)};
     const started = startFunctionProcess(${JSON.stringify(plan)}, {}, console.log);
     await started.initialized;
     started.invoke("{}");
     console.log(process.getActiveResourcesInfo().length, (await import("node:fs")).readFileSync("/proc/self/task/" + process.pid + "/children", "utf8"));`,
  );
  const runner = spawn(process.execPath, [join(directory, "runner.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await new Promise<string[]>((resolve) => {
    createInterface({ input: runner.stdout }).once("line", (text) => resolve([text]));
  });
  const child = Number(line?.trim().split(" ").at(-1));
  expect(() => process.kill(child, 0)).not.toThrow();
  runner.kill("SIGKILL");
  await eventually(() => expect(() => process.kill(child, 0)).toThrow("ESRCH"));
  await rm(directory, { recursive: true, force: true });
});
