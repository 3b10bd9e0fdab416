import { parseEventFilter } from "@income-events/local-stack/sources/event-filter.ts";
import { describe, expect, test } from "vitest";

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
    ["suffix", { dynamodb: { Keys: { sk: { S: [{ suffix: "#1" }] } } } }, true],
    ["exists", { dynamodb: { NewImage: { weak: { BOOL: [{ exists: true }] } } } }, true],
    ["exists, of what is not there", { dynamodb: { OldImage: { a: [{ exists: true }] } } }, false],
    ["exists: false, of what is not there", { dynamodb: { OldImage: { a: [{ exists: false }] } } }, true],
    ["null", { dynamodb: { NewImage: { gone: [null] } } }, true],
    ["null is not absence", { dynamodb: { NewImage: { other: [null] } } }, false],
    ["numeric", { dynamodb: { SizeBytes: [{ numeric: [">", 10, "<=", 40] }] } }, true],
    ["numeric out of range", { dynamodb: { SizeBytes: [{ numeric: [">", 40] }] } }, false],
    ["anything-but", { eventName: [{ "anything-but": ["REMOVE"] }] }, true],
    ["anything-but, of the value", { eventName: [{ "anything-but": "INSERT" }] }, false],
    ["anything-but with prefix", { eventName: [{ "anything-but": { prefix: "IN" } }] }, false],
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
