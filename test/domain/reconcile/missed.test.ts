import { describe, expect, it } from "vitest";
import type { WebhookKind } from "../../../domain/event/events.ts";
import {
  countsNeededFrom,
  findMissed,
  halfGapInMillis,
  type MissedSettings,
} from "../../../domain/reconcile/missed.ts";
import { startRun } from "../../../domain/reconcile/reconciliation.ts";
import {
  isOpen,
  isRequested,
  parseRunRequest,
  type RunRequest,
  requestRun,
} from "../../../domain/reconcile/run-request.ts";
import { at } from "../samples.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const noon = Date.parse("2026-11-26T12:00:00.000Z");
const settings: MissedSettings = { atMostEveryMinutes: 15, gapMinutes: 10, minuteInMillis: minute };

/** Failures by minutes before noon. */
const failing = (...minutes: readonly (readonly [before: number, count: number])[]) =>
  new Map(minutes.map(([before, count]) => [noon - before * minute, count]));
const none = new Map<number, number>();

/** `count` webhooks in every five minutes of the last nine days, except between these minutes before noon. */
function receiving(count: number, ...pauses: readonly (readonly [from: number, until: number])[]) {
  const accepted = new Map<number, number>();
  for (let at = noon - 9 * day; at < noon; at += 5 * minute) {
    const before = (noon - at) / minute;
    if (!pauses.some(([from, until]) => before <= from && before > until)) accepted.set(at, count);
  }
  return accepted;
}

/** Missed periods, in minutes before noon. */
function missed(
  unanswered: ReadonlyMap<number, number>,
  accepted: ReadonlyMap<number, number> = none,
  since = 0,
) {
  const found = findMissed({ unanswered, accepted }, since, noon, settings);
  return found && [found.from, found.until].map((text) => (noon - Date.parse(text)) / minute);
}

describe("webhooks that were answered with 429 or 5xx", () => {
  it.each<[string, ReadonlyMap<number, number>, unknown]>([
    ["nothing failed", none, undefined],
    ["one webhook failed twice and was accepted then", failing([10, 1], [9, 1]), undefined],
    ["one webhook failed three times", failing([11, 1], [10, 1], [9, 1]), [11, 8]],
    ["many failed in one minute", failing([30, 400]), [30, 29]],
    ["they failed for ten minutes", failing(...[12, 8, 5, 3].map((at) => [at, 9] as const)), [12, 2]],
    ["the last one failed a moment ago", failing([12, 9], [1, 1]), undefined],
    ["they have failed for more than an hour", failing([61, 9], [30, 9], [0, 9]), [61, 0]],
    ["they failed the day before yesterday", failing([48 * 60, 99]), undefined],
    ["a minute without failures is reported as 0", failing([20, 0], [10, 2]), undefined],
  ])("%s", (_name, unanswered, expected) => {
    expect(missed(unanswered)).toEqual(expected);
  });

  it("are recovered once, and those after a run are found again", () => {
    const unanswered = failing([40, 50], [20, 2], [10, 1]);
    expect(missed(unanswered)).toEqual([40, 9]);
    expect(missed(unanswered, none, noon - 39 * minute)).toEqual([20, 9]);
    expect(missed(unanswered, none, noon - 9 * minute)).toBeUndefined();
  });
});

describe("a gap in what is received", () => {
  it.each<[string, ReadonlyMap<number, number>, unknown]>([
    ["nothing was ever received", none, undefined],
    ["webhooks come all the time", receiving(5), undefined],
    ["none came for five minutes", receiving(20, [30, 25]), undefined],
    ["none came for ten minutes", receiving(5, [30, 20]), [30, 20]],
    ["none came for three quarters of an hour", receiving(5, [60, 15]), [60, 15]],
    ["few come anyway", receiving(4, [30, 20]), undefined],
    ["none came at this time yesterday, as every night", receiving(5, [30, 20], [1470, 1460]), undefined],
    ["none came at this time a week ago, as each weekend", receiving(5, [30, 20], [10110, 10100]), undefined],
    ["none has come since, and the hour is not over", receiving(5, [30, 0]), undefined],
    ["none has come since, for more than an hour", receiving(5, [70, 0]), [70, 5]],
    ["the latest minutes are not counted yet", receiving(5, [10, 0]), undefined],
  ])("%s", (_name, accepted, expected) => {
    expect(missed(none, accepted)).toEqual(expected);
  });

  it("merges with the failures at its ends", () => {
    expect(missed(failing([33, 4], [18, 4]), receiving(5, [30, 20]))).toEqual([33, 17]);
  });
});

it.each([
  [10, minute, 5 * minute],
  [1, minute, minute],
  [5, minute, 3 * minute],
  [10, minute / 60, 5 * minute],
])(
  "a gap of %i minutes, of metrics by %i ms, is counted in periods of %i ms",
  (gapMinutes, minuteInMillis, half) => {
    expect(halfGapInMillis({ ...settings, gapMinutes, minuteInMillis })).toBe(half);
  },
);

it("counts of nine days are needed: a day is searched, and compared with the week before", () => {
  expect(countsNeededFrom(noon, settings)).toBe(noon - 9 * day);
  expect(countsNeededFrom(noon, { ...settings, minuteInMillis: 1_000 })).toBe(noon - (9 * day) / 60);
});

const grace = 15;
const minuteAfter = (minutes: number) => new Date(at.getTime() + minutes * 60_000);
const lost = (minutes: number, kind: WebhookKind = "users", open?: RunRequest) =>
  requestRun(open, open, kind, minuteAfter(minutes));
const runAt = (minutes: number) => startRun(undefined, minuteAfter(minutes), false);

describe("a run after lost webhooks", () => {
  it.each<[string, RunRequest | undefined, number | undefined, number, boolean]>([
    ["nothing was lost", undefined, undefined, 0, false],
    ["a webhook may still arrive", lost(0), undefined, 14.9, false],
    ["the grace period has passed", lost(0), undefined, 15, true],
    ["a run began an hour before", lost(0), -45, 15, true],
    ["a run began less than an hour before", lost(0), -44, 15, false],
    ["a run began too early to find it", lost(0), 14, 74, true],
    ["a run that could find it began", lost(0), 15, 1_000, false],
    ["webhooks keep being lost", lost(20, "users", lost(0)), undefined, 21, true],
    ["another was lost after a run", lost(100, "users"), 16, 115, true],
  ])("begins or not if %s", (...[, request, ranAt, now, isDue]) => {
    const run = ranAt === undefined ? undefined : runAt(ranAt);
    expect(isRequested(request, run, grace, minuteAfter(now))).toBe(isDue);
  });

  it("reads documents again if webhooks of endpoints were lost, until a run has begun", () => {
    const first = lost(0, "endpoints");
    const second = lost(5, "accounts", first);
    expect(second).toEqual({
      version: 0,
      since: at.toISOString(),
      until: minuteAfter(5).toISOString(),
      rereads: true,
    });
    expect(isOpen(second, runAt(19), grace)).toBe(true);
    expect(isOpen(second, runAt(20), grace)).toBe(false);
    expect(lost(30, "accounts").rereads).toBe(false);
    expect(lost(30, "company-accounts").rereads).toBe(true);
    expect(parseRunRequest(JSON.parse(JSON.stringify(second)))).toEqual(second);
    for (const field of ["version", "since", "until"])
      expect(() => parseRunRequest({ ...second, [field]: null })).toThrow(`${field}: expected`);
    expect(() => parseRunRequest(null)).toThrow("request: expected an object");
  });
});
