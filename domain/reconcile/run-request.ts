import { fieldsOf, numberOf, textOf } from "../core/parse.ts";
import type { WebhookKind } from "../event/events.ts";
import type { Run } from "./reconciliation.ts";

/** A request for a run, because webhooks were lost. */
export type RunRequest = ReturnType<typeof parseRunRequest>;

/** Lost webhooks start at most one run in this time. */
const betweenRunsInMillis = 3_600_000;

/**
 * Whether no run has answered a request. A run skips subjects created within the grace period before it,
 * because their webhooks may still arrive.
 */
export function isOpen(
  request: RunRequest | undefined,
  run: Run | undefined,
  graceMinutes: number,
): request is RunRequest {
  if (request === undefined) return false;
  return run === undefined || Date.parse(run.startedAt) < found(request.until, graceMinutes);
}

/** Whether to start a run for a request. */
export function isRequested(
  request: RunRequest | undefined,
  run: Run | undefined,
  graceMinutes: number,
  now: Date,
): boolean {
  if (!isOpen(request, run, graceMinutes) || now.getTime() < found(request.since, graceMinutes)) return false;
  return run === undefined || now.getTime() - Date.parse(run.startedAt) >= betweenRunsInMillis;
}

/** The earliest start of a run that finds what a lost webhook reported. */
function found(lostAt: string, graceMinutes: number): number {
  return Date.parse(lostAt) + graceMinutes * 60_000;
}

/**
 * The request after another webhook was lost.
 * @param open the previous request, if no run has answered it
 */
export function requestRun(
  before: RunRequest | undefined,
  open: RunRequest | undefined,
  kind: WebhookKind,
  now: Date,
): RunRequest {
  const until = now.toISOString();
  return {
    version: before?.version ?? 0,
    since: open?.since ?? until,
    until,
    rereads: kind === "endpoints" || kind === "company-accounts" || open?.rereads === true,
  };
}

/** @throws permanent failure naming the field */
export function parseRunRequest(value: unknown) {
  const fields = fieldsOf(value, "request");
  return {
    version: numberOf(fields, "version"),
    /** When the first webhook that no run has covered was lost, ISO 8601. */
    since: textOf(fields, "since"),
    /** When the latest webhook was lost, ISO 8601. */
    until: textOf(fields, "until"),
    /** Whether one of them may have announced data, so that documents must be read again. */
    rereads: fields.rereads === true,
  } as const;
}
