import { isLoop, mostInvocationsInChain, nextTrace } from "@income-events/local-stack/lambda/lineage.ts";
import { describe, expect, test } from "vitest";

const arn = "arn:aws:lambda:eu-central-1:000000000000:function:";

/** The trace of a chain in which these functions were invoked, one after the other. */
function chain(...functions: readonly string[]): string[] {
  return functions.reduce<string[]>((traces, name) => [nextTrace(arn + name, traces)], []);
}

describe("a chain of requests", () => {
  const often = Array.from({ length: mostInvocationsInChain }, () => "a");

  test("is a loop for a function that was invoked 16 times in it, and for no other", () => {
    expect(isLoop(`${arn}a`, chain(...often.slice(1)))).toBe(false);
    expect(isLoop(`${arn}a`, chain(...often))).toBe(true);
    expect(isLoop(`${arn}b`, chain(...often))).toBe(false);
  });

  test("counts each function, also where others are invoked in between", () => {
    const alternating = often.flatMap((name) => [name, "b"]);
    expect(isLoop(`${arn}a`, chain(...alternating))).toBe(true);
    expect(isLoop(`${arn}b`, chain(...alternating))).toBe(true);
  });

  test("of a batch is that of the message that went round most often", () => {
    expect(isLoop(`${arn}a`, [...chain("a"), ...chain(...often), "Root=1-0-0"])).toBe(true);
    expect(isLoop(`${arn}a`, [])).toBe(false);
  });

  test("counts on where one that ends meets one that begins, so that none of them need be a loop", () => {
    const meetings = often
      .slice(1)
      .reduce((last) => [nextTrace(`${arn}a`, [...last, "Root=1-0-0"])], chain("a"));
    expect(isLoop(`${arn}a`, meetings)).toBe(true);
  });
});
