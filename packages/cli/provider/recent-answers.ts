import type { LogEntry } from "../logs/log-entries.ts";

/** The function that reads the provider's data, as it names itself in its log. */
export const fetcher = "fetch/data";

/** So often an answer came, since a time. */
export type RecentAnswers = {
  /** Calls that were answered as they should be, by the tasks that they did. */
  readonly done: number;
  /** By status, or `none` where no answer came. */
  readonly failed: Readonly<Record<string, number>>;
};

const failures = ["TASK_POSTPONED", "MESSAGE_REJECTED"];

/** What the fetcher's log says of the provider's answers: its reasons name them. */
export function recentAnswers(entries: readonly LogEntry[]): RecentAnswers {
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

/** @returns undefined where it is no answer that was waited for, but the rate, the breaker or a token */
function answerIn(reason: string): string | undefined {
  const status = /^the provider answered (\d{3})\b/.exec(reason)?.[1];
  if (status !== undefined) return status;
  if (reason.startsWith("the token was refused")) return "401";
  return /could not be reached|broke off/.test(reason) ? "none" : undefined;
}

/** In words: `succeeded: 12, 503: 3`. */
export function answersText({ done, failed }: RecentAnswers): string {
  const counts = Object.entries(failed).toSorted(([one], [other]) => one.localeCompare(other));
  const words = counts.map(([status, count]) => `${status === "none" ? "no answer" : status}: ${count}`);
  return [`succeeded: ${done}`, ...words].join(", ");
}
