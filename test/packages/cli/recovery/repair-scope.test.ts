import { describe, expect, it } from "vitest";
import { repairScope } from "../../../../packages/cli/recovery/repair-scope.ts";

const now = new Date("2026-03-01T12:00:00.000Z");

describe("what a repair is about", () => {
  it.each([
    [{ all: true }, { subject: undefined, period: {} }],
    [{ since: "36h" }, { subject: undefined, period: { since: "2026-02-28T00:00:00.000Z" } }],
    [{ until: "2026-02-01" }, { subject: undefined, period: { until: "2026-02-01T00:00:00.000Z" } }],
    [{ user: "u" }, { subject: { kind: "user", id: "u" }, period: {} }],
    [{ failures: true }, undefined],
    [
      { failures: true, account: "a" },
      { subject: { kind: "account", id: "a" }, period: {} },
    ],
  ])("%o", (flags, scope) => {
    expect(repairScope(flags, now)).toEqual(scope);
  });

  it.each([
    [{}, "Choose what to repair: --failures"],
    [{ all: true, since: "1h" }, "--all is everything"],
    [{ all: true, user: "u" }, "--all is everything"],
    [{ since: "yesterday" }, "--since"],
    [{ user: "1", account: "2" }, "exclude each other"],
  ])("is refused for %o", (flags, reason) => {
    expect(() => repairScope(flags, now)).toThrow(reason);
  });
});
