import { expect, it } from "vitest";
import { sourceAt } from "../../../domain/event/json-source.ts";

it("the source of a value is found in a text of 20 MB with one long string", () => {
  const text = JSON.stringify({ picture: 'x"\\'.repeat(5_000_000), next: "there" });
  const span = sourceAt(text, "next");
  expect(span && text.slice(span.start, span.end)).toBe('"there"');
});
