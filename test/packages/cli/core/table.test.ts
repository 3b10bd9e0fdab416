import { describe, expect, it } from "vitest";
import { tableText } from "../../../../packages/cli/core/table.ts";

describe("a table", () => {
  it("has a head, numbers to the right, and a dash for what is not known", () => {
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

  it("is its head alone where there are no rows", () => {
    expect(tableText(["queue"], [])).toBe("queue");
  });
});
