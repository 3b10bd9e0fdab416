import fc from "fast-check";
import { expect, it } from "vitest";
import { oneLine, printableJson } from "../../../../packages/cli/core/printable.ts";

const nasty = "a\u001b[2J\u009b31m\u202e\u200b\u2028\u{e0001}\nb";

it("a line of ours can't be left by what comes from outside", () => {
  expect(oneLine(nasty)).toBe("a [2J 31m b");
});

it("JSON is printed without a character that a terminal obeys, and says the same", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.constantFrom(undefined, 2), (value, indent) => {
      const text = printableJson([value, { [nasty]: nasty }], indent);
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(JSON.parse(text)).toEqual([JSON.parse(JSON.stringify(value)), { [nasty]: nasty }]);
      if (indent === undefined) expect(text).not.toContain("\n");
    }),
  );
});
