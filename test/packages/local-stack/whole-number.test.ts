import { wholeNumber } from "@income-events/local-stack/whole-number.ts";
import { expect, test } from "vitest";

test.each([
  ["1", 1],
  ["007", 7],
  ["20", 20],
])("%s is taken as %i", (text, value) => {
  expect(wholeNumber(1, 20)(text)).toBe(value);
});

test.each(["0", "21", "", " 3", "1.5", "-1", "1e1", "many"])(
  "%o is refused with what to write instead",
  (text) => {
    expect(() => wholeNumber(1, 20)(text)).toThrow("Write a whole number from 1 to 20.");
  },
);
