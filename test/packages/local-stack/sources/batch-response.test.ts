import { batchResult } from "@income-events/local-stack/sources/batch-response.ts";
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
