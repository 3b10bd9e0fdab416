import { fieldsOf, numberOf, textOf } from "../core/parse.ts";
import type { WebhookKind } from "../event/events.ts";
import type { Run } from "./reconciliation.ts";

/** Asks for a run, because webhooks were lost. */
export type RunRequest = {
  readonly version: number;
  /** When the first webhook was lost that no run looked for, ISO 8601. */
  readonly since: string;
  /** When the latest was lost. */
  readonly until: string;
  /** Whether one of them was about documents: those are read again. */
  readonly rereads: boolean;
};

/** However many webhooks are lost, they begin at most one run in this time. */
const betweenRunsInMillis = 3_600_000;

/**
 * Whether a request was made that no run answers: a run leaves what was created within the time of grace before it to
 * the webhooks.
 */
export function isOpen(
  request: RunRequest | undefined,
  run: Run | undefined,
  graceMinutes: number,
): request is RunRequest {
  if (request === undefined) return false;
  return run === undefined || Date.parse(run.startedAt) < found(request.until, graceMinutes);
}

/** Whether a run is to begin for a request. */
export function isRequested(
  request: RunRequest | undefined,
  run: Run | undefined,
  graceMinutes: number,
  now: Date,
): boolean {
  if (!isOpen(request, run, graceMinutes) || now.getTime() < found(request.since, graceMinutes)) return false;
  return run === undefined || now.getTime() - Date.parse(run.startedAt) >= betweenRunsInMillis;
}

/** From when on a run finds what a webhook said that was lost. */
function found(lostAt: string, graceMinutes: number): number {
  return Date.parse(lostAt) + graceMinutes * 60_000;
}

/**
 * The request after another webhook was lost.
 * @param open the one before it, where no run has answered it
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
    rereads: kind === "endpoints" || open?.rereads === true,
  };
}

/** @throws permanent failure naming the field */
export function parseRunRequest(value: unknown): RunRequest {
  const fields = fieldsOf(value, "request");
  return {
    version: numberOf(fields, "version"),
    since: textOf(fields, "since"),
    until: textOf(fields, "until"),
    rereads: fields.rereads === true,
  };
}
