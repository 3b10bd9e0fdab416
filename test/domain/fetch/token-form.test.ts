import { expect, it } from "vitest";
import { hasTokenForm, maxTokenBytes } from "../../../domain/fetch/token-form.ts";

it("takes a word of visible ASCII as a token, and nothing that is longer than any token", () => {
  expect(["a", "a.b.c", "~".repeat(maxTokenBytes)].map(hasTokenForm)).toEqual([true, true, true]);
  for (const text of ["", "a b", "a\n", "é", "~".repeat(maxTokenBytes + 1)])
    expect(hasTokenForm(text)).toBe(false);
});
