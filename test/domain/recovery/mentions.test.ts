import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mentions } from "../../../domain/recovery/mentions.ts";

const id = "0f8fad5b-d9cb-469f-a165-70867728950e";

describe("an id", () => {
  it.each<[string, string]>([
    ["as a text", JSON.stringify({ user_id: id })],
    ["within text in JSON", JSON.stringify({ body: JSON.stringify({ user_id: id }) })],
    ["in a name", JSON.stringify({ subject: `account/${id}/income` })],
    ["in what is no JSON", `user_id=${id}&x=1`],
    ["at the end", `x ${id}`],
  ])("is mentioned %s", (_, text) => {
    expect(mentions(["another-one", id])(text)).toBe(true);
  });

  it("is mentioned as a number, where it is long enough", () => {
    expect(mentions(["123456789"])('{"user_id": 123456789}')).toBe(true);
  });

  it.each([`${id}0`, `x${id}`, `-${id}`, id.slice(1), id.toUpperCase()])(
    "is not mentioned by a longer or another one: %s",
    (other) => {
      expect(mentions([id])(JSON.stringify({ user_id: other }))).toBe(false);
    },
  );

  it("that is short counts only as a whole text or part of a name, never as a number somewhere", () => {
    const named = mentions(["7"]);
    expect(['{"user_id":"7"}', '{"subject":"user/7"}', '{"body":"{\\"id\\":\\"7\\"}"}'].map(named)).toEqual([
      true,
      true,
      true,
    ]);
    expect(['{"receipts":7}', '{"at":"7 o\'clock"}', '{"id":"17"}'].map(named)).toEqual([
      false,
      false,
      false,
    ]);
  });

  it("is found whatever characters it has, and none is found where none is asked for", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.jsonValue(), (any, beside) => {
        const text = JSON.stringify({ beside, user: any });
        expect(mentions([any])(text)).toBe(true);
        expect(mentions([])(text)).toBe(false);
      }),
    );
  });
});
