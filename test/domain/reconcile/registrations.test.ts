import { describe, expect, it, test } from "vitest";
import { parseRefreshOutcome } from "../../../domain/fetch/token-lifetime.ts";
import {
  advance,
  driftOfRun,
  endRun,
  isDue,
  isStuck,
  markOf,
  parseRun,
  postpone,
  stall,
  startRun,
  turnPage,
} from "../../../domain/reconcile/reconciliation.ts";
import {
  parseRegistrations,
  type Registration,
  registrationAt,
  webhookUrlOf,
} from "../../../domain/reconcile/registrations.ts";
import { at } from "../samples.ts";

const known = { kind: "users", deployed: "https://api.example/webhooks/users" } as const;

describe("a list of registrations", () => {
  test("is read as it was written", () => {
    const webhooks: readonly Registration[] = [
      { ...known, type: "here" },
      { ...known, type: "none" },
      { ...known, type: "elsewhere", url: "https://other.example" },
      { ...known, type: "untold", reason: "the provider answered 405" },
    ];
    expect(parseRegistrations(JSON.parse(JSON.stringify({ webhooks })))).toEqual(webhooks);
  });

  test.each([
    ["nothing", undefined, "the list of webhooks: expected an object"],
    ["no list", { webhooks: {} }, "webhooks: expected a list"],
    [
      "another kind",
      { webhooks: [{ ...known, kind: "payslips", type: "here" }] },
      "a kind that this release",
    ],
    ["another state", { webhooks: [{ ...known, type: "moved" }] }, "a state that this release"],
    ["elsewhere without an address", { webhooks: [{ ...known, type: "elsewhere" }] }, "url: expected a text"],
  ])("is refused if it has %s", (_, value, reason) => {
    expect(() => parseRegistrations(value)).toThrow(reason);
  });
});

test.each(["https://api.example/webhooks", "https://api.example/webhooks/"])(
  "a kind's webhooks go below %s, with one slash between",
  (webhooksUrl) => {
    expect(webhookUrlOf(webhooksUrl, "users")).toBe("https://api.example/webhooks/users");
  },
);

test("the outcome of a refresh is parsed, and another release's is refused", () => {
  expect(parseRefreshOutcome({ outcome: "kept" })).toBe("kept");
  expect(() => parseRefreshOutcome({ outcome: "postponed" })).toThrow(
    "an outcome that this release does not know",
  );
  expect(() => parseRefreshOutcome(null)).toThrow("the refresh: expected an object");
});

describe("what is registered", () => {
  const { kind, deployed } = known;
  test.each([deployed, `${deployed}/`, "HTTPS://API.example:443/webhooks/users"])("is here at %s", (url) => {
    expect(registrationAt(kind, deployed, url)).toEqual({ kind, deployed, type: "here" });
  });
  test.each([`${deployed}/7`, `${deployed}?`, "http://api.example/webhooks/users", "nowhere"])(
    "is elsewhere at %s",
    (url) => {
      expect(registrationAt(kind, deployed, url)).toEqual({ kind, deployed, type: "elsewhere", url });
    },
  );
});

const later = (hours: number) => new Date(at.getTime() + hours * 3_600_000);
const next = { next: "cursor", pages: 1, mark: "m" };
const begun = startRun(undefined, at, true);
const ended = endRun({ ...begun, version: 7 }, later(1));

describe("a run", () => {
  it("is due at first, until it has ended, and a period after it began", () => {
    expect(isDue(undefined, 24, at)).toBe(true);
    expect(isDue(begun, 24, at)).toBe(true);
    expect(isDue(ended, 24, later(23.9))).toBe(false);
    expect(isDue(ended, 24, later(24))).toBe(true);
    expect(isDue(ended, 24 / 288, later(24 / 288))).toBe(true);
  });

  it("is due on schedule, whatever runs an operator started meanwhile", () => {
    const manual = endRun(startRun(ended, later(20), false), later(21));
    const another = endRun(startRun(manual, later(22), false), later(23));
    for (const run of [manual, another]) {
      expect(isDue(run, 24, later(23.9))).toBe(false);
      expect(isDue(run, 24, later(24))).toBe(true);
    }
    expect(isDue(endRun(startRun(undefined, at, false), later(1)), 24, later(2))).toBe(false);
  });

  it("begins at the first page with empty counts, with the next version", () => {
    const { counts, ...run } = startRun(ended, later(24), true);
    expect(run).toEqual({
      ...{ version: 7, startedAt: later(24).toISOString(), isScheduled: true },
      ...{ previousAt: begun.startedAt, sizeBefore: 0 },
    });
    expect(new Set(Object.values(counts))).toEqual(new Set([0]));
  });

  it("remembers the scheduled run before it, and how many accounts the last complete run listed", () => {
    const complete = endRun(advance(begun, "u-1", { accounts: 400 }), later(1));
    const manual = endRun(startRun(complete, later(2), false), later(3), "no list");
    expect(startRun(manual, later(24), true)).toMatchObject({
      previousAt: begun.startedAt,
      sizeBefore: 400,
    });
  });

  it("sums its steps' findings, and its pages' unreadable items", () => {
    const first = advance(begun, "u-1", { listed: 2, missing: 3, orphaned: 1, skipped: 1 });
    const second = turnPage(advance(first, "u-2", { listed: 1, conflicting: 1 }), next, 2, at);
    expect(second).toMatchObject({ page: next, counts: { listed: 3, missing: 3, skipped: 3 } });
    expect(second).not.toHaveProperty("after");
    expect(driftOfRun(second)).toBe(5);
    expect(turnPage(second, undefined, 0, later(1)).endedAt).toBe(later(1).toISOString());
  });

  it("marks its position by a digest that is different in each run, until it ends", () => {
    const went = turnPage(begun, next, 0, at);
    const first = advance(went, "u-1", {});
    expect(first.after).toBe(markOf(first, "u-1"));
    expect(markOf(first, "u-2")).not.toBe(first.after);
    expect(markOf(startRun(undefined, later(1), true), "u-1")).not.toBe(first.after);
    expect(JSON.stringify(first)).not.toContain("u-1");
    for (const over of [turnPage(first, undefined, 0, later(1)), endRun(stall(first), later(1), "no list")]) {
      for (const place of ["page", "after", "stalls"]) expect(over).not.toHaveProperty(place);
    }
  });

  it("is stuck when ticks fail at the same user, until it continues", () => {
    const failing = stall(stall(begun));
    expect([failing, stall(failing)].map(isStuck)).toEqual([false, true]);
    expect(isStuck(advance(stall(failing), "u-1", {}))).toBe(false);
    expect(isStuck(advance(stall(failing), undefined, {}))).toBe(true);
  });

  it("is parsed as it was stored, and refused by the name of an invalid field", () => {
    for (const run of [
      begun,
      ended,
      postpone(stall({ ...begun, page: next, after: "u-1" }), 60, new Date()),
    ]) {
      expect(parseRun(JSON.parse(JSON.stringify(run)))).toEqual(run);
    }
    const broken: [string, object][] = [
      ["version", { version: "1" }],
      ["startedAt", { startedAt: "" }],
      ["run.counts", { counts: [] }],
      ["missing", { counts: { ...begun.counts, missing: null } }],
      ["pages", { page: { ...next, pages: "1" } }],
      ["stalls", { stalls: "1" }],
    ];
    for (const [field, fault] of broken) {
      expect(() => parseRun({ ...begun, ...fault }), field).toThrow(new RegExp(`^${field}: expected`));
    }
  });
});
