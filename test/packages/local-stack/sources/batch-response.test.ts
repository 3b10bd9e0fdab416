import { batchResult, failedEvents } from "@income-events/local-stack/sources/batch-response.ts";
import { parseEventFilter } from "@income-events/local-stack/sources/event-filter.ts";
import { describe, expect, test } from "vitest";

const result = (response: unknown, reports = true) =>
  batchResult({ kind: "returned", payload: JSON.stringify(response) }, reports, ["a", "b"]);

describe("a batch's response", () => {
  const one = { batchItemFailures: [{ itemIdentifier: "b" }] };

  test.each<[string, unknown, ReturnType<typeof result>, boolean?]>([
    ["that is null is a success", null, { kind: "succeeded" }],
    ["without a list is a success", {}, { kind: "succeeded" }],
    ["with an empty list is a success", { batchItemFailures: [] }, { kind: "succeeded" }],
    ["with null as its list is a success", { batchItemFailures: null }, { kind: "succeeded" }],
    ["names the items that failed", one, { kind: "partial", failed: new Set(["b"]) }],
    ["is ignored if the mapping does not request it", one, { kind: "succeeded" }, false],
  ])("%s", (_, response, expected, reports = true) => {
    expect(result(response, reports)).toEqual(expected);
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

const record = {
  eventName: "INSERT",
  dynamodb: { Keys: { sk: { S: "EVENT#1" } }, NewImage: { weak: { BOOL: true }, gone: null }, SizeBytes: 40 },
};

describe("a filter pattern", () => {
  test.each<[string, unknown, boolean]>([
    ["an exact value", { eventName: ["INSERT"] }, true],
    ["another value", { eventName: ["REMOVE"] }, false],
    ["alternatives", { eventName: ["REMOVE", "INSERT"] }, true],
    ["a boolean", { dynamodb: { NewImage: { weak: { BOOL: [true] } } } }, true],
    ["a boolean is not its text", { dynamodb: { NewImage: { weak: { BOOL: ["true"] } } } }, false],
    ["prefix", { dynamodb: { Keys: { sk: { S: [{ prefix: "EVENT#" }] } } } }, true],
    ["another prefix", { dynamodb: { Keys: { sk: { S: [{ prefix: "STATE" }] } } } }, false],
    ["exists", { dynamodb: { NewImage: { weak: { BOOL: [{ exists: true }] } } } }, true],
    ["exists, of what is not there", { dynamodb: { OldImage: { a: [{ exists: true }] } } }, false],
    ["exists: false, of what is not there", { dynamodb: { OldImage: { a: [{ exists: false }] } } }, true],
    ["null", { dynamodb: { NewImage: { gone: [null] } } }, true],
    ["null is not absence", { dynamodb: { NewImage: { other: [null] } } }, false],
    ["keys that all must match", { eventName: ["INSERT"], dynamodb: { SizeBytes: [1] } }, false],
  ])("%s", (_, pattern, expected) => {
    expect(parseEventFilter(JSON.stringify(pattern))(record)).toBe(expected);
  });

  test.each([
    ["not JSON", "{"],
    ["no object", '["INSERT"]'],
    ["a bare value", '{"eventName":"INSERT"}'],
    ["an operator", '{"a":[{"wildcard":"x*"}]}'],
    ["$or", '{"$or":[{"a":["b"]}]}'],
  ])("with %s is refused", (_, pattern) => {
    expect(() => parseEventFilter(pattern)).toThrow("is not one that the local runner knows");
  });
});
