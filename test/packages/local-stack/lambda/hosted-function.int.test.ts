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

  test("sees its environment and nothing of the runner's", async () => {
    process.env.SECRET_OF_THE_RUNNER = "x";
    await using work = await hosted("export const handler = () => Object.keys(process.env).sort();", {
      environment: { QUEUE_URL: "q", TZ: ":UTC" },
    });
    expect(await answerOf(work.host)).toEqual(["PATH", "QUEUE_URL", "TZ", "_X_AMZN_TRACE_ID"]);
    delete process.env.SECRET_OF_THE_RUNNER;
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

  test.each(["now", "later"])(
    "logs what it throws %s in one line of JSON, with the request's id",
    async (when) => {
      await using work = await hosted(
        `export const handler = (event, context) => {
         const error = Object.assign(new TypeError("refused"), { Item: { id: context.awsRequestId } });
         if (event === "now") throw error;
         setImmediate(() => { throw error; });
         return new Promise(() => {}); };`,
      );
      await work.host.invoke(JSON.stringify(when));
      await eventually(() => expect(work.lines).not.toEqual([]));
      const [line] = work.lines;
      const { timestamp, requestId, ...rest } = JSON.parse(line ?? "");
      expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      const stackTrace = expect.arrayContaining(["TypeError: refused"]);
      const message = {
        errorType: "TypeError",
        errorMessage: "refused",
        stackTrace,
        Item: { id: requestId },
      };
      expect(rest).toEqual({ level: "ERROR", message });
    },
  );

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

  test("over its time-out is ended by force, and the next one gets a new process", async () => {
    await using work = await hosted(
      "let calls = 0; export const handler = (event) => { calls += 1; while (event.loops); return calls; };",
      { timeoutSeconds: 1 },
    );
    expect(await answerOf(work.host)).toBe(1);
    expect(await work.host.invoke('{"loops":true}')).toMatchObject({
      kind: "failed",
      error: { errorMessage: expect.stringMatching(/Task timed out after 1\.00 seconds$/) },
    });
    expect(work.lines).toEqual([expect.stringContaining("Task timed out")]);
    expect(await answerOf(work.host)).toBe(1);
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
