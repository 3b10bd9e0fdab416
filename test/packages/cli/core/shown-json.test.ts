import { expect, it } from "vitest";
import { printableJson } from "../../../../packages/cli/core/printable.ts";
import { shownJson } from "../../../../packages/cli/core/shown-json.ts";

const text = '{"user_id": "u1", "name": "Ada", "amount": 12345678901234567890.10}';

it("a JSON text is masked but for ids", () => {
  expect(shownJson(text, { reveal: false, ids: ["u1", undefined] })).toEqual({
    user_id: "u1",
    name: "(text)",
    amount: "(number)",
  });
});

it("a revealed one keeps the digits of its numbers", () => {
  expect(printableJson(shownJson(text, { reveal: true, ids: [] }))).toBe(
    '{"user_id":"u1","name":"Ada","amount":12345678901234567890.10}',
  );
});

it("what is no JSON is one text, masked as such", () => {
  expect(shownJson("Ada {", { reveal: false, ids: [] })).toBe("(text)");
  expect(shownJson("Ada {", { reveal: true, ids: [] })).toBe("Ada {");
});

it("what is nested without end is shown all the same: it hides nothing that is shown beside it", () => {
  const deep = `${"[".repeat(50_000)}"Ada"${"]".repeat(50_000)}`;
  const masked = printableJson(shownJson(deep, { reveal: false, ids: [] }));
  expect(masked).toContain("(nested too deeply)");
  expect(masked).not.toContain("Ada");
  expect(printableJson(shownJson(deep, { reveal: true, ids: [] }))).toContain("Ada");
});

it("a masked message names by ids whom it is about, and nothing of a person", () => {
  const user = "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed";
  const message = {
    ...{ type: "user.updated", subject: `user/${user}`, data: { userId: user, user_id: user, id: user } },
    ...{ valid: user, name: user, reference_id: "Ada Lovelace", note: { subject: "user/Ada Lovelace" } },
  };
  expect(shownJson(JSON.stringify(message), { reveal: false, ids: [], isMessage: true })).toEqual({
    ...{ type: "user.updated", subject: `user/${user}`, data: { userId: user, user_id: user, id: user } },
    ...{ valid: "(text)", name: "(text)", reference_id: "(text)", note: { subject: "(text)" } },
  });
});
