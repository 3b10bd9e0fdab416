import { fieldPattern } from "../../../adapters/aws/log-groups.ts";
import { itemReader } from "../../../adapters/dynamodb/batching.ts";
import { loadBreaker } from "../../../adapters/provider/circuit-breaker.ts";
import { callsInLastMinute } from "../../../adapters/provider/rate-limiter.ts";
import type { Place } from "../core/command.ts";
import { tableText } from "../core/table.ts";
import { fromNow, oneLine } from "../core/text.ts";
import { type LogEntry, stageEntries } from "../logs/log-entries.ts";
import { tokenText } from "../status/status-text.ts";
import { tokenStatus } from "../status/token-status.ts";
import { type RegistrationStatus, registrationStatus } from "./registration.ts";

export type ProviderStatus = Awaited<ReturnType<typeof providerStatus>>;

/**
 * The breaker is open after failures: no calls until one probe at `nextProbeAt`. `answersNow` is undefined if
 * this stage does not ask the provider about webhooks, and `lastAnswers` if the fetcher's log can't be read.
 */
export async function providerStatus(place: Place, now: Date) {
  const { deployment, clients } = place;
  const [{ dynamodb }, table] = [clients, deployment.output("TableName")];
  // First, because this call may be the probe that closes the breaker.
  const registrations = await registrationStatus(place);
  const [breaker, calls, token, lastAnswers] = await Promise.all([
    loadBreaker(itemReader(dynamodb, table)),
    callsInLastMinute(dynamodb, table, now),
    tokenStatus(place),
    answersOf(place, now),
  ]);
  const isOpen = breaker.openUntil > 0;
  return {
    breaker: {
      state: isOpen ? ("open" as const) : ("closed" as const),
      timesDown: breaker.opened,
      ...(isOpen && { nextProbeAt: new Date(breaker.openUntil).toISOString() }),
    },
    ...answerOf(registrations),
    callsInLastMinute: calls,
    ...(lastAnswers && { lastAnswers }),
    requestsPerMinute: Number(deployment.output("ProviderRequestsPerMinute")),
    token,
  };
}

const minutesOfAnswers = 15;

async function answersOf(place: Place, now: Date) {
  const since = new Date(now.getTime() - minutesOfAnswers * 60_000).toISOString();
  // Without access to logs, the rest of the status is still shown.
  const search = { since, pattern: fieldPattern("function", [fetcher]) };
  const entries = await stageEntries(place, search).catch(() => undefined);
  return entries && recentAnswers(entries);
}

function answerOf(registrations: RegistrationStatus): {
  readonly answersNow: boolean | undefined;
  readonly answer?: string;
} {
  if ("isLeftToAnother" in registrations) return { answersNow: undefined };
  if ("unknown" in registrations) return { answersNow: false, answer: registrations.unknown };
  return { answersNow: true };
}

export function providerText(stage: string, status: ProviderStatus, now: Date): string {
  const { breaker, answersNow, answer = "", lastAnswers, token } = status;
  const { callsInLastMinute: calls, requestsPerMinute: rate } = status;
  const answers = answersNow === undefined ? "not asked" : answersNow ? "yes" : `no: ${oneLine(answer)}`;
  const last =
    lastAnswers === undefined
      ? "unknown: the functions' logs can't be read"
      : `${answersText(lastAnswers)} (in ${minutesOfAnswers} minutes)`;
  const rows = [
    ["answers", answers],
    ["breaker", breakerText(breaker, now)],
    ["calls", `at most ${calls} in the last minute, of ${rate} that the rate allows`],
    ["last answers", last],
    ["token", tokenText(token, now)],
  ];
  return tableText(["provider", stage], rows);
}

function breakerText({ state, timesDown, nextProbeAt }: ProviderStatus["breaker"], now: Date): string {
  if (state === "closed") return "closed: it is called";
  const probe = new Date(nextProbeAt ?? now);
  const next = probe > now ? fromNow(probe, now) : "with the next call";
  const down = timesDown === 0 ? "it asked for a pause" : `found down ${timesDown} times in a row`;
  return `open: nobody calls it, ${down}; it is tried again ${next}`;
}

/** The fetcher's name in its log. */
const fetcher = "fetch/data";

const failures = ["TASK_POSTPONED", "MESSAGE_REJECTED"];

/**
 * The provider's answers in the fetcher's log, whose reasons name them: successful calls by finished tasks, and
 * failed ones by status, or `none` without an answer.
 */
export function recentAnswers(entries: readonly LogEntry[]) {
  const failed: Record<string, number> = {};
  let done = 0;
  for (const entry of entries) {
    if (entry.function !== fetcher) continue;
    if (entry.code === "TASK_DONE") done += 1;
    const answer = failures.includes(String(entry.code)) ? answerIn(String(entry.reason)) : undefined;
    if (answer !== undefined) failed[answer] = (failed[answer] ?? 0) + 1;
  }
  return { done, failed };
}

/** @returns undefined if the task waited for the rate, the breaker or a token, not for an answer */
function answerIn(reason: string): string | undefined {
  const status = /^the provider answered (\d{3})\b/.exec(reason)?.[1];
  if (status !== undefined) return status;
  if (reason.startsWith("the token was refused")) return "401";
  return /could not be reached|broke off|content coding/.test(reason) ? "none" : undefined;
}

/** Answers in words: `succeeded: 12, 503: 3`. */
export function answersText({ done, failed }: ReturnType<typeof recentAnswers>): string {
  const counts = Object.entries(failed).toSorted(([one], [other]) => one.localeCompare(other));
  const words = counts.map(([status, count]) => `${answerText(status)}: ${count}`);
  return [`succeeded: ${done}`, ...words].join(", ");
}

function answerText(status: string): string {
  if (status === "none") return "no answer";
  return ["200", "201", "203"].includes(status) ? `${status} without data` : status;
}
