import { describe, expect, it, test } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { permanent } from "../../../domain/core/failures.ts";
import { losslessValue, parseExact } from "../../../domain/event/lossless-json.ts";
import { mapPayload } from "../../../domain/event/mapping.ts";
import { anyIds } from "./mapped.ts";

const mapped = (id: string, accountId = "account_id") =>
  mapPayload(
    { ...anyIds, accountId },
    parseExact(`{"action":"connect_account","account_id":${id}}`, "the body"),
    jmespathSearch,
  ).accountId;

describe("an id that is a number", () => {
  it.each([
    ["4711", "4711"],
    ["9007199254740991", "9007199254740991"],
    ["9007199254740992", "9007199254740992"],
    ["9007199254740993", "9007199254740993"],
    ["1227795846152789711", "1227795846152789711"],
    ["-1227795846152789711", "-1227795846152789711"],
    ["12345678901234567890123456789012345678901", "12345678901234567890123456789012345678901"],
    ["100000000000000000000000", "100000000000000000000000"],
  ])("%s keeps its digits, as it is and in to_string()", (number, text) => {
    expect(mapped(number)).toBe(text);
    expect(mapped(number, "to_string(account_id)")).toBe(text);
  });

  it.each([
    ["1e23", "100000000000000000000000"],
    ["1.227795846152789711E+18", "1227795846152789711"],
    ["1227795846152789711.0", "1227795846152789711"],
    ["12277958461527897110e-1", "1227795846152789711"],
    ["1.0", "1"],
    ["0.1e1", "1"],
  ])("%s is the same id as %s", (written, digits) => {
    expect(mapped(written)).toBe(digits);
  });

  it.each(["1.5", "12277958461527897.11", "1e400", "9".repeat(201), "1e-7", "1.00000000000000000000001"])(
    "%s is no whole number, or too long, and is refused by its field",
    (number) => {
      expect(() => mapped(number)).toThrow(
        permanent("accountId: expected a short text or a whole number, not this number"),
      );
    },
  );
});

const body = `{
  "action": "connect_account", "ids": [1227795846152789711, 7], "big": 1227795846152789711, "next": 1227795846152789712,
  "text": "1227795846152789711", "by_id": {"1227795846152789711": {"name": "first"}}, "small": 7, "false": false,
  "members": [{"id": 1227795846152789711, "rank": 1}, {"id": 1227795846152789712, "rank": 2}]
}`;
const find = (expression: string, text = body) =>
  JSON.stringify(jmespathSearch(expression, parseExact(text, "the body")));

test.each([
  ["join('-', [to_string(big), to_string(next)])", '"1227795846152789711-1227795846152789712"'],
  ["to_string(ids)", '"[1227795846152789711,7]"'],
  ["keys(by_id)[0]", '"1227795846152789711"'],
  ["big || small", "1227795846152789711"],
  ["absent || big", "1227795846152789711"],
  ["big && small", "7"],
  ["!big", "false"],
  ["not_null(absent, big)", "1227795846152789711"],
  ["big == next", "false"],
  ["big != next", "true"],
  ["big == ids[0]", "true"],
  ["contains(ids, big)", "true"],
  ["contains(ids, next)", "false"],
  ["contains(ids, small)", "true"],
  ["to_number(text) == big", "true"],
  ["to_number('7')", "7"],
  ["to_number('seven')", "null"],
  ["to_number(big)", "1227795846152789711"],
  ["to_number(small)", "7"],
  ["type(big)", '"number"'],
  ["type(small)", '"number"'],
  ["big.rank", "null"],
  ["members[?to_string(id) == '1227795846152789712'].rank | [0]", "2"],
  ["members[?id == to_number('1227795846152789712')].rank | [0]", "2"],
  ["sort_by(members, &rank)[-1].id", "1227795846152789712"],
  ["sum([small, small])", "14"],
  ["avg(members[*].rank)", "1.5"],
  ["merge(members[0], {rank: small}).id", "1227795846152789711"],
  ["length(ids)", "2"],
  ["values(members[0]) | [0]", "1227795846152789711"],
  [`"<" || text`, '"1227795846152789711"'],
])("an expression sees a long number as it is written: %s", (expression, found) => {
  expect(find(expression)).toBe(found);
});

test.each([
  "sum(ids)",
  "avg(ids)",
  "max(ids)",
  "min(ids)",
  "sort(ids)",
  "abs(big)",
  "ceil(big)",
  "floor(big)",
  "sort_by(members, &id)",
  "max_by(members, &id)",
  "min_by(members, &id)",
  "big > small",
  "members[?id >= `5`]",
  "keys(big)",
  "values(big)",
  "length(big)",
  "merge(members[0], big)",
])("what is not exact is refused with the field's name: %s", (expression) => {
  const reason = "the expression calculates with a number that only its digits hold exactly";
  expect(() => find(expression)).toThrow(permanent(reason));
  const payload = parseExact(body, "the body");
  expect(() => mapPayload({ ...anyIds, accountId: expression }, payload, jmespathSearch)).toThrow(
    permanent(`accountId: ${reason}`),
  );
});

test.each(["sum([a, b])", "to_string(avg([a, b]))"])("a sum beyond 2^53 is refused: %s", (expression) => {
  const data = parseExact('{"a":9007199254740991,"b":2}', "the body");
  expect(() => jmespathSearch(expression, data)).toThrow(/^the expression calculates with a number/);
});

it("compares sizes if all numbers of the body are exact", () => {
  expect(jmespathSearch("items[?rank > `1`].id | [0]", { items: [{ id: "a", rank: 2 }] })).toBe("a");
});

test.each(["1772368496123456789", "1772368496123456.789", "1772368496.1234567891"])(
  "a time is read from a number with all its digits: %s",
  (time) => {
    const payload = parseExact(`{"action":"connect_account","account_id":"a","at":${time}}`, "the body");
    expect(mapPayload({ ...anyIds, time: "at" }, payload, jmespathSearch).time).toBe(
      "2026-03-01T12:34:56.123Z",
    );
  },
);

it.each([
  ['{"a":1227795846152789711,"a":1227795846152789712}', '{"a":1227795846152789712}'],
  ['{"__proto__":1227795846152789711,"constructor":2}', '{"__proto__":1227795846152789711,"constructor":2}'],
  [
    '[-0,0,0.0,1e2,0.1,1.10,5e-324,"1227795846152789711"]',
    '[0,0,0,100,0.1,1.1,5e-324,"1227795846152789711"]',
  ],
  ["[0.1000000000000000000001,1e999,-1e999]", "[0.1000000000000000000001,1e999,-1e999]"],
  ["1227795846152789711", "1227795846152789711"],
])("reads %s", (text, written) => {
  expect(JSON.stringify(parseExact(text, "the body"))).toBe(written);
});

it("keeps each number as it is written where all are raw", () => {
  const text = '[1.10,1e2,-0,12345678901234567890,"1.10",true]';
  expect(JSON.stringify(losslessValue(text))).toBe(text);
});

it("reads a number of a million digits at once", () => {
  const digits = `1${"0".repeat(1_000_000)}1`;
  const start = performance.now();
  expect(JSON.stringify(parseExact(digits, "the body"))).toBe(digits);
  expect(performance.now() - start).toBeLessThan(2_000);
});

it("never quotes what is no JSON", () => {
  expect(() => parseExact('{"a":1227795846152789711', "the body")).toThrow(permanent("the body is not JSON"));
});
