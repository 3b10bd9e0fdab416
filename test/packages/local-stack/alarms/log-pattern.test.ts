import { parseLogPattern, valueOfLine } from "@income-events/local-stack/alarms/log-pattern.ts";
import { describe, expect, test } from "vitest";

const pattern = parseLogPattern('{ $.code = "GAP_FOUND" }');

describe("a filter pattern", () => {
  test("matches lines of JSON objects with the text in the field", () => {
    expect(valueOfLine('{"code":"GAP_FOUND"}', pattern, 1)).toBe(1);
    for (const line of [
      '{"code":"GAP"}',
      '{"other":"GAP_FOUND"}',
      '["GAP_FOUND"]',
      "GAP_FOUND",
      '{"code":"GAP_F',
      "",
    ]) {
      expect(valueOfLine(line, pattern, 1)).toBeUndefined();
    }
  });

  test("of several texts matches lines with any of them", () => {
    const any = parseLogPattern('{ ($.code = "ONE") || ($.code = "TWO") || ($.code = "THREE") }');
    for (const code of ["ONE", "TWO", "THREE"]) expect(valueOfLine(JSON.stringify({ code }), any, 1)).toBe(1);
    expect(valueOfLine('{"code":"FOUR"}', any, 1)).toBeUndefined();
  });

  test("adds the number of a field, where it is one", () => {
    const count = { field: "count" };
    expect(valueOfLine('{"code":"GAP_FOUND","count":7}', pattern, count)).toBe(7);
    expect(valueOfLine('{"code":"GAP_FOUND","count":"7"}', pattern, count)).toBeUndefined();
    expect(valueOfLine('{"code":"GAP_FOUND"}', pattern, count)).toBeUndefined();
  });

  test.each([
    "",
    "ERROR",
    "{ $.count > 5 }",
    '{ $.code = "A*" }',
    '{ $.a.b = "X" }',
    '{ $.a = "X" || $.b = "Y" }',
    '{ ($.a = "X") || ($.b = "Y") }',
    '{ ($.a = "X") && ($.a = "Y") }',
  ])("in another form is refused by name: %s", (other) => {
    expect(() => parseLogPattern(other)).toThrow(`the filter pattern ${other} is not one`);
  });
});
