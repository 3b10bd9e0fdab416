import { describe, expect, it, test } from "vitest";
import type { Fields } from "../../../domain/core/parse.ts";
import { parseRefreshOutcome } from "../../../domain/fetch/token-lifetime.ts";
import { parseReconcileOutcome } from "../../../domain/reconcile/reconcile-outcome.ts";
import {
  advance,
  correlationOfRun,
  driftOfRun,
  endRun,
  isDue,
  isOverdue,
  isPostponed,
  isStuck,
  markOf,
  mayMakeUp,
  parseRun,
  postpone,
  stall,
  startRun,
  turnPage,
} from "../../../domain/reconcile/reconciliation.ts";
import {
  type Difference,
  differencesIn,
  parseIsNewer,
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
      { ...known, type: "here", differs: ["unsigned", "method"] },
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

test("the provider's interface is the newer one only if the settings say so", () => {
  expect([{ interface: "0.5" }, { interface: "0.4" }, {}].map(parseIsNewer)).toEqual([true, false, false]);
  expect(() => parseIsNewer(undefined)).toThrow("provider: expected an object");
});

test.each([
  { outcome: "done", listed: 3, drift: 1 },
  { outcome: "goes on", listed: 3 },
  { outcome: "paused", reason: "the provider is down" },
  { outcome: "accepted", accepted: 2 },
  { outcome: "restored", restored: 2, others: ["a"], underWay: [] },
  { outcome: "overtaken" },
  { outcome: "not due" },
])("the outcome of a reconciliation is parsed, and refused by a missing field: %o", (outcome) => {
  expect(parseReconcileOutcome({ ...outcome, more: 1 })).toEqual(outcome);
  for (const field of Object.keys(outcome).filter((name) => name !== "outcome"))
    expect(() => parseReconcileOutcome({ ...outcome, [field]: null })).toThrow(`${field}: expected`);
});

test("the outcome of another release's reconciliation is refused", () => {
  expect(() => parseReconcileOutcome({ outcome: "dreamt" })).toThrow("that this release does not know");
  expect(() => parseReconcileOutcome("done")).toThrow("the outcome: expected an object");
});

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
  test("is here with its differences, if there are any", () => {
    const here = { kind, deployed, type: "here" };
    expect(registrationAt(kind, deployed, deployed, ["signed"])).toEqual({ ...here, differs: ["signed"] });
    expect(registrationAt(kind, deployed, deployed, [])).toEqual(here);
  });
  test.each<[string, Fields, boolean, readonly Difference[]]>([
    ["nothing that can be compared", {}, true, []],
    ["no signature", { signed: false }, true, ["unsigned"]],
    ["no signature, where none is required", { signed: false }, false, []],
    ["a signature", { has_secret: true }, true, []],
    ["a signature, where none is required", { secret_set: true }, false, ["signed"]],
    ["a masked secret, where none is required", { secret: "***" }, false, ["signed"]],
    ["no secret", { secret: null }, true, ["unsigned"]],
    ["an empty secret", { secret: "" }, true, ["unsigned"]],
    ["a signature before what else tells of one", { signed: false, secret: "***" }, true, ["unsigned"]],
    ["the header", { headers: { "X-Secret": "***" } }, true, []],
    ["another header", { headers: { "x-other": "***" } }, true, ["header"]],
    ["the header's name", { header_names: ["X-Secret"] }, true, []],
    ["other names before headers", { header_names: ["a"], headers: { "x-secret": 1 } }, true, ["header"]],
    ["a list of headers", { headers: [{ name: "X-Secret", value: "***" }] }, true, []],
    ["a list of other headers", { headers: [{ name: "a" }, 5] }, true, ["header"]],
    ["headers in a text", { headers: "x-secret" }, true, []],
    ["the method", { method: "post" }, true, []],
    ["another method", { method: "PUT" }, true, ["method"]],
    ["a method that is no text", { method: 5 }, true, []],
    ["that it is enabled", { enabled: true }, true, []],
    ["that it is disabled", { enabled: false }, true, ["enabled"]],
    [
      "all that differs",
      { signed: false, headers: [], method: "GET", enabled: false },
      true,
      ["unsigned", "header", "method", "enabled"],
    ],
  ])("differs, or not, if the provider reports %s", (_, told, isSigned, expected) => {
    expect(differencesIn(told, { header: "X-Secret", isSigned })).toEqual(expected);
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
  it("is named in logs by its start", () => {
    expect(correlationOfRun(begun.startedAt)).toBe("reconciliation.2026-03-01T12:00:00.000Z");
  });

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

  it("is overdue when twice the time between runs has passed since its start", () => {
    expect([47.9, 48].map((hours) => isOverdue(ended, 24, later(hours)))).toEqual([false, true]);
    expect(isOverdue(undefined, 24, later(48))).toBe(false);
  });

  it("is put off for as long as the provider asks", () => {
    const asked = postpone(begun, 60, at);
    expect(asked.notBefore).toBe("2026-03-01T12:01:00.000Z");
    const times = [59_999, 60_000].map((millis) => new Date(at.getTime() + millis));
    expect(times.map((now) => isPostponed(asked, now))).toEqual([true, false]);
    expect([isPostponed(begun, at), isPostponed(undefined, at)]).toEqual([false, false]);
  });

  it("makes up for lost webhooks at most once in a while, and remembers until when", () => {
    const missed = { from: at.toISOString(), until: later(1).toISOString() };
    const making = startRun(ended, later(2), false, { missed, rereads: true });
    expect(making).toMatchObject({ missed, rereads: true });
    const next = startRun(endRun(making, later(3)), later(4), true);
    expect(next).not.toHaveProperty("missed");
    for (const run of [making, next]) {
      expect(run.lastMissed).toEqual({ startedAt: later(2).toISOString(), until: missed.until });
      expect([2.4, 2.5].map((hours) => mayMakeUp(run, 30, later(hours)))).toEqual([false, true]);
      expect(parseRun(JSON.parse(JSON.stringify(run)))).toEqual(run);
    }
    expect(mayMakeUp(begun, 30, at)).toBe(true);
  });

  it("after lost webhooks compares the company accounts after its last page, and then ends", () => {
    const missed = { from: at.toISOString(), until: later(1).toISOString() };
    for (const cause of [{ missed }, { rereads: true } as const]) {
      const run = advance(startRun(undefined, at, false, cause), "u-1", {});
      expect(turnPage(run, next, 0, at)).not.toHaveProperty("companies");
      const companies = turnPage(run, undefined, 1, at);
      expect(companies).toMatchObject({ companies: true, counts: { skipped: 1 } });
      expect(companies).not.toHaveProperty("endedAt");
      expect(parseRun(JSON.parse(JSON.stringify(companies)))).toEqual(companies);
      const over = turnPage(advance(companies, "c-1", {}), undefined, 0, later(1));
      expect(over.endedAt).toBe(later(1).toISOString());
      expect(over).not.toHaveProperty("companies");
    }
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
