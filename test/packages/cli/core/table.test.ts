import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shownJson } from "../../../../packages/cli/core/shown-json.ts";
import { tableText } from "../../../../packages/cli/core/table.ts";
import { fromNow, oneLine, periodAgo, printableJson, spanText } from "../../../../packages/cli/core/text.ts";
import { anyCharacter } from "../../../support/any-character.ts";

describe("a table", () => {
  it("has a head, right-aligned numbers, and a dash for a missing value", () => {
    expect(
      tableText(
        ["queue", "waiting", "oldest"],
        [
          ["users", 3, "5m"],
          ["company-accounts", 1200, undefined],
        ],
      ),
    ).toBe(
      [
        "queue             waiting  oldest",
        "users                   3  5m",
        "company-accounts     1200  -",
      ].join("\n"),
    );
  });

  it("keeps each row on its line, whatever a cell holds", () => {
    expect(tableText(["reason"], [["a\nb\u001b[31mc\u2028d"]])).toBe("reason\na b [31mc d");
  });

  it("has only its head if there are no rows", () => {
    expect(tableText(["queue"], [])).toBe("queue");
  });
});

const nasty = "a\u001b[2J\u009b31m\u202e\u200b\u2028\u{e0001}\nb";

it("text from outside can't break out of its line", () => {
  expect(oneLine(nasty)).toBe("a [2J 31m b");
});

it("JSON is printed without a character that a terminal obeys, and says the same", () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ stringUnit: anyCharacter }),
      fc.constantFrom(undefined, 2),
      (value, indent) => {
        const text = printableJson([value, { [nasty]: nasty }], indent);
        expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(JSON.parse(text)).toEqual([JSON.parse(JSON.stringify(value)), { [nasty]: nasty }]);
        if (indent === undefined) expect(text).not.toContain("\n");
      },
    ),
  );
});

describe("a span of time", () => {
  it.each([
    [0, "0s"],
    [59.6, "1m"],
    [725, "12m 5s"],
    [3_600, "1h"],
    [3_605, "1h"],
    [90_000, "1d 1h"],
    [14 * 86_400, "14d"],
  ])("of %d seconds is %s", (seconds, text) => {
    expect(spanText(seconds)).toBe(text);
  });

  it("is counted from now, backwards and ahead", () => {
    const now = new Date("2026-01-02T00:00:00Z");
    expect(fromNow(new Date("2026-01-01T23:00:00Z"), now)).toBe("1h ago");
    expect(fromNow(new Date("2026-01-02T00:12:00Z"), now)).toBe("in 12m");
  });

  it.each([
    ["2026-01-01T12:00:00Z", "2026-01-01T12:00:16Z", "within the last minute"],
    ["2026-01-01T12:00:00Z", "2026-01-01T12:01:06Z", "within the last 2 minutes"],
    ["2026-01-01T12:00:00Z", "2026-01-01T12:02:07Z", "1m ago"],
    ["2026-01-01T12:00:00Z", "2026-01-01T14:59:59Z", "2h 58m ago"],
    ["2026-01-01T12:00:00Z", "2026-01-01T15:30:00Z", "2h ago"],
    ["2026-01-01T12:00:00Z", "2026-01-03T12:30:00Z", "1d 23h ago"],
  ])(
    "claims no more than is measured: what happened in the period from %s was, at %s, %s",
    (at, now, text) => {
      expect(periodAgo(new Date(at), new Date(now))).toBe(text);
    },
  );
});

const text = '{"user_id": "u1", "name": "Ada", "amount": 12345678901234567890.10}';

it("a JSON text is masked, except for ids", () => {
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

it("a text that is not JSON is masked as a whole", () => {
  expect(shownJson("Ada {", { reveal: false, ids: [] })).toBe("(text)");
  expect(shownJson("Ada {", { reveal: true, ids: [] })).toBe("Ada {");
});

it("a deeply nested text is shown, and hides no other", () => {
  const deep = `${"[".repeat(50_000)}"Ada"${"]".repeat(50_000)}`;
  const masked = printableJson(shownJson(deep, { reveal: false, ids: [] }));
  expect(masked).toContain("(nested too deeply)");
  expect(masked).not.toContain("Ada");
  expect(printableJson(shownJson(deep, { reveal: true, ids: [] }))).toContain("Ada");
});

it("a masked message shows the ids of its subjects, and no personal data", () => {
  const user = "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed";
  const message = {
    ...{ type: "user.updated", subject: `user/${user}`, data: { userId: user, user_id: user, id: user } },
    ...{ valid: user, name: user, reference_id: "Ada Lovelace", note: { subject: "user/Ada Lovelace" } },
    ...{ metadata: { loan_id: user, agent: { id: user } }, attributes: { loanId: user } },
  };
  expect(shownJson(JSON.stringify(message), { reveal: false, ids: [], isMessage: true })).toEqual({
    ...{ type: "user.updated", subject: `user/${user}`, data: { userId: user, user_id: user, id: user } },
    ...{ valid: "(text)", name: "(text)", reference_id: "(text)", note: { subject: "(text)" } },
    ...{ metadata: { loan_id: "(text)", agent: { id: "(text)" } }, attributes: { loanId: "(text)" } },
  });
});
