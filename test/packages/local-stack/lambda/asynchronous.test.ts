import { createAsynchronousInvoker } from "@income-events/local-stack/lambda/asynchronous.ts";
import type { Outcome } from "@income-events/local-stack/lambda/hosted-function.ts";
import { isLoop, mostInvocationsInChain, nextTrace } from "@income-events/local-stack/lambda/lineage.ts";
import { describe, expect, test } from "vitest";
import { scripted } from "./scripted-function.ts";

const failed: Outcome = { kind: "failed", error: { errorType: "Error", errorMessage: "no" } };

/** A delay that advances time at once. */
function instantly() {
  const waits: number[] = [];
  let time = 0;
  return {
    waits,
    now: () => time,
    delay: async (milliseconds: number) => {
      waits.push(milliseconds);
      time += milliseconds;
    },
  };
}

describe("an asynchronous event", () => {
  test.each([
    ["after one minute and after two, then given up", {}, [60_000, 120_000]],
    ["as often as the function's settings say", { maximumRetryAttempts: 0 }, []],
  ])("that fails is tried again %s", async (_, settings, waits) => {
    const clock = instantly();
    const target = scripted([failed], settings);
    expect(await createAsynchronousInvoker(clock.delay, clock.now).invoke(target, "{}")).toBe("given up");
    expect(target.events).toHaveLength(waits.length + 1);
    expect(clock.waits).toEqual(waits);
  });

  test("that would exceed the limit of a loop is discarded at once", async () => {
    const error = { errorType: "RecursiveInvocationException", errorMessage: "" };
    const work = scripted([{ kind: "failed", error }]);
    const invoker = createAsynchronousInvoker(async () => undefined);
    expect(await invoker.invoke(work, "{}", ["Root=1-0-0"])).toBe("given up");
    expect(work.events).toHaveLength(1);
  });

  test("that is throttled keeps its retries, until it is too old", async () => {
    const clock = instantly();
    const target = scripted([{ kind: "throttled" }], { maximumEventAgeSeconds: 60 });
    expect(await createAsynchronousInvoker(clock.delay, clock.now).invoke(target, "{}")).toBe("given up");
    expect(target.events.length).toBeGreaterThan(3);
    expect(clock.now()).toBeLessThanOrEqual(60_000);
  });
});

const arn = "arn:aws:lambda:eu-central-1:000000000000:function:";

/** Trace of a chain in which these functions were invoked in order. */
function chain(...functions: readonly string[]): string[] {
  return functions.reduce<string[]>((traces, name) => [nextTrace(arn + name, traces)], []);
}

describe("a chain of requests", () => {
  const often = Array.from({ length: mostInvocationsInChain }, () => "a");
  const mixed = often.slice(1).reduce((last) => [nextTrace(`${arn}a`, [...last, "Root=1-0-0"])], chain("a"));
  const alternating = chain(...often.flatMap((name) => [name, "b"]));

  test.each([
    ["that invoked a function 15 times is no loop", "a", chain(...often.slice(1)), false],
    ["that invoked a function 16 times is a loop", "a", chain(...often), true],
    ["is no loop for another function", "b", chain(...often), false],
    ["counts each function, even if others are invoked in between", "b", alternating, true],
    ["of a batch is its longest", "a", [...chain("a"), ...chain(...often), "Root=1-0-0"], true],
    ["continues the count if a batch mixes old and new chains", "a", mixed, true],
    ["begins without a trace", "a", [], false],
  ])("%s", (_, name, traces, expected) => {
    expect(isLoop(arn + name, traces)).toBe(expected);
  });
});
