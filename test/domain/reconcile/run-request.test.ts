import { describe, expect, it } from "vitest";
import type { WebhookKind } from "../../../domain/event/events.ts";
import { startRun } from "../../../domain/reconcile/reconciliation.ts";
import {
  isOpen,
  isRequested,
  parseRunRequest,
  type RunRequest,
  requestRun,
} from "../../../domain/reconcile/run-request.ts";
import { at } from "../samples.ts";

const grace = 15;
const minuteAfter = (minutes: number) => new Date(at.getTime() + minutes * 60_000);
const lost = (minutes: number, kind: WebhookKind = "users", open?: RunRequest) =>
  requestRun(open, open, kind, minuteAfter(minutes));
const runAt = (minutes: number) => startRun(undefined, minuteAfter(minutes), false);

describe("a run that lost webhooks ask for", () => {
  it.each<[string, RunRequest | undefined, number | undefined, number, boolean]>([
    ["nothing was lost", undefined, undefined, 0, false],
    ["what was created may still have a webhook on its way", lost(0), undefined, 14.9, false],
    ["the time of grace is over", lost(0), undefined, 15, true],
    ["a run began an hour before", lost(0), -45, 15, true],
    ["a run began less than an hour before", lost(0), -44, 15, false],
    ["a run began too early to find it", lost(0), 14, 74, true],
    ["a run that could find it began", lost(0), 15, 1_000, false],
    ["webhooks are lost all the time", lost(20, "users", lost(0)), undefined, 21, true],
    ["another was lost after a run", lost(100, "users"), 16, 115, true],
  ])("is told to begin or not: %s", (...[, request, ranAt, now, isDue]) => {
    const run = ranAt === undefined ? undefined : runAt(ranAt);
    expect(isRequested(request, run, grace, minuteAfter(now))).toBe(isDue);
  });

  it("reads documents again where webhooks of endpoints were lost, until a run has begun", () => {
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
    expect(parseRunRequest(JSON.parse(JSON.stringify(second)))).toEqual(second);
  });
});
