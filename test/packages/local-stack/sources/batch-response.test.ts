import { batchResult, failedEvents } from "@income-events/local-stack/sources/batch-response.ts";
import { describe, expect, test } from "vitest";

const result = (response: unknown, reports = true) =>
  batchResult({ kind: "returned", payload: JSON.stringify(response) }, reports, ["a", "b"]);

describe("a batch's response", () => {
  test.each([[null], [{}], [{ batchItemFailures: [] }], [{ batchItemFailures: null }]])(
    "%j is a success",
    (response) => {
      expect(result(response)).toEqual({ kind: "succeeded" });
    },
  );

  test("names the items that failed", () => {
    expect(result({ batchItemFailures: [{ itemIdentifier: "b" }] })).toEqual({
      kind: "partial",
      failed: new Set(["b"]),
    });
  });

  test.each([
    ["text"],
    [7],
    [[]],
    [{ batchItemFailures: "b" }],
    [{ batchItemFailures: [{ itemIdentifier: "unknown" }] }],
    [{ batchItemFailures: [{ itemIdentifier: null }] }],
    [{ batchItemFailures: [{ itemIdentifier: "" }] }],
    [{ batchItemFailures: [{ identifier: "b" }] }],
    [{ batchItemFailures: [null] }],
  ])("%j is malformed and fails the whole batch", (response) => {
    expect(result(response)).toMatchObject({ kind: "failed", reason: expect.stringContaining("malformed") });
  });

  test("has no meaning where the mapping does not ask for it", () => {
    expect(result({ batchItemFailures: [{ itemIdentifier: "b" }] }, false)).toEqual({ kind: "succeeded" });
  });

  test("of a failed or throttled function is a failure", () => {
    const error = { errorType: "Error", errorMessage: "no" };
    expect(batchResult({ kind: "failed", error }, true, ["a"])).toEqual({
      kind: "failed",
      reason: "Error: no",
    });
    expect(batchResult({ kind: "throttled" }, true, ["a"])).toMatchObject({ kind: "failed" });
  });
});

test.each([
  ["all of a batch whose function failed", "failed", null, 2],
  ["all of a batch with a malformed response", "returned", { batchItemFailures: "b" }, 2],
  ["the items that a response names", "returned", { batchItemFailures: [{ itemIdentifier: "b" }] }, 1],
  ["none of a batch that succeeded", "returned", null, 0],
  ["none of a batch whose invocation was throttled", "throttled", null, 0],
] as const)("the failed events of a batch are %s", (_, kind, response, expected) => {
  const error = { errorType: "Error", errorMessage: "no" };
  const outcome = kind === "returned" ? { kind, payload: JSON.stringify(response) } : { kind, error };
  expect(failedEvents(outcome, batchResult(outcome, true, ["a", "b"]), 2)).toBe(expected);
});
