import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { eventually } from "../../../support/eventually.ts";
import { answerOf, hosted } from "./hosting.ts";

describe("an invocation", () => {
  test("gets event and context, and answers with the handler's result", async () => {
    await using work = await hosted(
      `export const handler = async (event, context) => ({
        event, name: context.functionName, arn: context.invokedFunctionArn, memory: context.memoryLimitInMB,
        millis: context.getRemainingTimeInMillis(), id: context.awsRequestId.length });`,
      { timeoutSeconds: 60 },
    );
    const answer = z.looseObject({ millis: z.number() }).parse(await answerOf(work.host, { a: ["ä"] }));
    expect(answer.millis).toBeGreaterThan(0);
    expect(answer.millis).toBeLessThanOrEqual(60_000);
    expect(answer).toMatchObject({
      event: { a: ["ä"] },
      name: "work",
      arn: "arn:aws:lambda:eu-central-1:000000000000:function:work",
      memory: "128",
      id: 36,
    });
  });

  test("tells what it spent of the processor, and the memory of its process", async () => {
    await using work = await hosted(
      `export const handler = (micros) => {
         const from = process.cpuUsage().user;
         while (process.cpuUsage().user - from < micros); };`,
    );
    const outcome = await work.host.invoke("200000");
    const usage = outcome.kind === "returned" ? outcome.usage : undefined;
    expect(usage?.cpuMicros).toBeGreaterThan(100_000);
    expect(usage?.millis).toBeGreaterThan(100);
    expect(usage?.maxResidentBytes).toBeGreaterThan(10_000_000);
  });

  test("counts as the memory of its process nothing that the runner holds", async () => {
    const held = Buffer.alloc(256 * 2 ** 20, 1);
    await using work = await hosted("export const handler = () => 1;");
    const outcome = await work.host.invoke("{}");
    const usage = outcome.kind === "returned" ? outcome.usage : undefined;
    expect(usage?.maxResidentBytes).toBeLessThan(held.byteLength / 2);
  });

  test("leaves a process that tells what lives in it, garbage left out", async () => {
    await using work = await hosted(
      `const kept = [];
       export const handler = ({ keeps, megabytes }) => {
         const held = Array.from({ length: megabytes }, () => "x".repeat(1e6).split("")).concat(Buffer.alloc(megabytes * 1e6, 1));
         if (keeps) kept.push(held); };`,
      { memoryMb: 512 },
    );
    const weightAfter = async (event: object) => {
      await answerOf(work.host, event);
      const [{ liveBytes = 0, maxResidentBytes = 0 } = {}, ...others] = await work.host.weigh();
      expect(others).toEqual([]);
      expect(maxResidentBytes).toBeGreaterThan(liveBytes);
      return liveBytes;
    };
    const before = await weightAfter({ megabytes: 0 });
    const dropped = await weightAfter({ megabytes: 10 });
    const kept = await weightAfter({ keeps: true, megabytes: 10 });
    expect(before).toBeGreaterThan(1e6);
    expect(dropped - before).toBeLessThan(5e6);
    // A megabyte of letters in an array takes several, a buffer what it says.
    expect(kept - before).toBeGreaterThan(20e6);
  });

  test("leaves nothing to weigh where its process has ended", async () => {
    await using work = await hosted("export const handler = () => 1;");
    expect(await work.host.weigh()).toEqual([]);
    await answerOf(work.host);
    const weighing = work.host.weigh();
    work.host.kill();
    expect((await weighing).length).toBeLessThanOrEqual(1);
    await eventually(async () => expect(await work.host.weigh()).toEqual([]));
  });

  test("without a result answers null", async () => {
    await using work = await hosted("export const handler = () => {};");
    expect(await answerOf(work.host)).toBeNull();
  });

  test("sees its environment and nothing of the runner's", async () => {
    process.env.SECRET_OF_THE_RUNNER = "x";
    await using work = await hosted("export const handler = () => Object.keys(process.env).sort();", {
      environment: { QUEUE_URL: "q", TZ: ":UTC" },
    });
    expect(await answerOf(work.host)).toEqual(["PATH", "QUEUE_URL", "TZ"]);
    delete process.env.SECRET_OF_THE_RUNNER;
  });

  test("finds no channel to the runner, and its own directory as the current one", async () => {
    await using work = await hosted(
      "import { existsSync } from 'node:fs'; export const handler = () => [typeof process.send, existsSync('index.mjs')];",
    );
    expect(await answerOf(work.host)).toEqual(["undefined", true]);
  });

  test("that throws fails with type, message and trace", async () => {
    await using work = await hosted(
      "export const handler = async () => { throw new RangeError('too far'); };",
    );
    expect(await work.host.invoke("{}")).toEqual({
      kind: "failed",
      error: {
        errorType: "RangeError",
        errorMessage: "too far",
        trace: expect.arrayContaining(["RangeError: too far"]),
      },
    });
    expect(work.host.counts()).toMatchObject({ invocations: 1, errors: 1, running: 0 });
  });

  test("has what it throws in its log, with all that is in it, as Lambda's runtime writes it", async () => {
    await using work = await hosted(
      `export const handler = (event) => {
         const error = Object.assign(new Error("refused"), { Item: { name: event.name } });
         if (event.name === "later") setImmediate(() => { throw error; });
         else throw error;
         return new Promise(() => {}); };`,
    );
    for (const [name, title] of [
      ["now", "Invoke Error"],
      ["later", "Uncaught Exception"],
    ]) {
      await work.host.invoke(JSON.stringify({ name }));
      const line = new RegExp(`\\tERROR\\t${title} .*"errorMessage":"refused","Item":{"name":"${name}"}`);
      await eventually(() => expect(work.lines).toContainEqual(expect.stringMatching(line)));
    }
  });

  test("with JSON logs has what it throws in one line of JSON, with the request's id", async () => {
    await using work = await hosted(
      `export const handler = (event, context) => {
         throw Object.assign(new TypeError("refused"), { Item: { id: context.awsRequestId } }); };`,
      { environment: { AWS_LAMBDA_LOG_FORMAT: "JSON" } },
    );
    await work.host.invoke("{}");
    await eventually(() => expect(work.lines).not.toEqual([]));
    const [line] = work.lines;
    const { timestamp, requestId, ...rest } = JSON.parse(line ?? "");
    expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const stackTrace = expect.arrayContaining(["TypeError: refused"]);
    const message = { errorType: "TypeError", errorMessage: "refused", stackTrace, Item: { id: requestId } };
    expect(rest).toEqual({ level: "ERROR", message });
  });

  test("whose rejection nobody handles fails, and the process is replaced", async () => {
    await using work = await hosted(
      `let calls = 0;
       export const handler = async (event) => {
         if (event.fails) { Promise.reject(new Error("forgotten")); await new Promise(() => {}); }
         return ++calls; };`,
    );
    expect(await work.host.invoke('{"fails":true}')).toMatchObject({
      kind: "failed",
      error: { errorType: "Runtime.UnhandledPromiseRejection", errorMessage: "forgotten" },
    });
    await eventually(async () => expect(await answerOf(work.host)).toBe(1));
  });

  test("over its time-out is ended by force", async () => {
    await using work = await hosted("export const handler = () => { for (;;); };", { timeoutSeconds: 0.2 });
    expect(await work.host.invoke("{}")).toMatchObject({
      kind: "failed",
      error: { errorMessage: expect.stringMatching(/Task timed out after 0\.20 seconds$/) },
    });
    expect(work.lines).toEqual([expect.stringContaining("Task timed out")]);
  });

  test("whose process ends fails with Runtime.ExitError", async () => {
    await using work = await hosted("export const handler = () => process.exit(3);");
    expect(await work.host.invoke("{}")).toMatchObject({
      kind: "failed",
      error: { errorType: "Runtime.ExitError", errorMessage: expect.stringContaining("exit status 3") },
    });
  });

  test("that outgrows the memory of its template ends its process", async () => {
    await using work = await hosted(
      "export const handler = () => { const all = []; for (;;) all.push(new Array(1e5).fill({})); };",
      { memoryMb: 32 },
    );
    expect(await work.host.invoke("{}")).toMatchObject({
      kind: "failed",
      error: { errorType: "Runtime.ExitError" },
    });
  });

  test("whose response is over 6 MB fails", async () => {
    await using work = await hosted("export const handler = (event) => 'x'.repeat(event.length);");
    expect(await answerOf(work.host, { length: 6_291_554 })).toHaveLength(6_291_554);
    expect(await work.host.invoke('{"length":6291555}')).toMatchObject({
      kind: "failed",
      error: { errorType: "Function.ResponseSizeTooLarge" },
    });
  });
});

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

const identity = "export const handler = async () => process.pid;";
/** Waits in the handler until a file appears, so that tests decide when it ends. */
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

describe("concurrency", () => {
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

describe("other code", () => {
  const named = (name: string) => `export const handler = () => "${name} " + process.env.RELEASE;`;

  test("serves from the next invocation on, with its environment, and leaves no process of the code before", async () => {
    await using work = await hosted(named("old"), { environment: { RELEASE: "1" } });
    await using other = await hosted(named("new"), { environment: { RELEASE: "2" } });
    expect(await answerOf(work.host)).toBe("old 1");
    work.host.serve([other.host.plan]);
    expect(await answerOf(work.host)).toBe("new 2");
    expect(await answerOf(work.host)).toBe("new 2");
    expect(work.host.counts()).toMatchObject({ coldStarts: 2 });
    expect(work.host.kill()).toBe(1);
  });

  test("takes turns with the code beside it, each in a process of its own", async () => {
    await using work = await hosted(named("old"), { environment: { RELEASE: "1" } });
    await using other = await hosted(named("new"), { environment: { RELEASE: "2" } });
    work.host.serve([work.host.plan, other.host.plan]);
    const answers: unknown[] = [];
    for (let count = 0; count < 4; count += 1) answers.push(await answerOf(work.host));
    expect(answers).toEqual(["old 1", "new 2", "old 1", "new 2"]);
    expect(work.host.counts()).toMatchObject({ coldStarts: 2 });
  });

  test("lets what runs already end as it began", async () => {
    await using work = await hosted(gated);
    await using other = await hosted(identity);
    const begun = answerOf(work.host);
    await eventually(() => expect(work.lines).toEqual(["started"]));
    work.host.serve([other.host.plan]);
    const after = await answerOf(work.host);
    await openGate(work.host.plan.directory);
    expect(await begun).not.toBe(after);
    expect(await answerOf(work.host)).toBe(after);
  });
});

describe("ending", () => {
  test("killing what works ends the process at work, and the next invocation gets a new one", async () => {
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

  test("killing what works leaves an idle process alone; killing all does not", async () => {
    await using work = await hosted(identity);
    const first = await answerOf(work.host);
    expect(work.host.killWorking()).toBe(0);
    expect(await answerOf(work.host)).toBe(first);
    expect(work.host.kill()).toBe(1);
    expect(await answerOf(work.host)).not.toBe(first);
  });

  test("a process that is killed while it imports is no handler that can't be loaded", async () => {
    await using work = await hosted("console.log('importing'); await new Promise(() => {});");
    const answer = work.host.invoke("{}");
    await eventually(() => expect(work.lines).toEqual(["importing"]));
    expect(work.host.kill()).toBe(1);
    expect(await answer).toMatchObject({ kind: "failed", error: { errorType: "Runtime.ExitError" } });
    expect(work.host.initErrors()).toEqual([]);
  });

  test("close leaves no process, also where one is at work", async () => {
    const work = await hosted(`${identity}\nconsole.log(process.pid);`);
    await answerOf(work.host);
    await eventually(() => expect(work.lines).toHaveLength(1));
    await work[Symbol.asyncDispose]();
    expect(() => process.kill(Number(work.lines[0]), 0)).toThrow("ESRCH");
    expect(await work.host.invoke("{}")).toMatchObject({ kind: "failed" });
  });
});

async function openGate(directory: string): Promise<void> {
  await writeFile(`${directory}/gate`, "");
}
