import { describe, expect, it } from "vitest";
import { answersText, recentAnswers } from "../../../../packages/cli/provider/provider-status.ts";

const entry = (code: string, reason?: string, name = "fetch/data") => ({
  ...{ timestamp: "2026-11-21T12:00:00.000Z", level: "INFO", function: name, code },
  ...(reason !== undefined && { reason }),
});

describe("the provider's last answers", () => {
  it("are counted by their status, as the reasons of the fetcher's log name them", () => {
    const answers = recentAnswers([
      entry("TASK_DONE"),
      entry("TASK_DONE"),
      entry("TASK_POSTPONED", "the provider answered 503"),
      entry("TASK_POSTPONED", "the provider answered 503"),
      entry("MESSAGE_REJECTED", "the provider answered 422"),
      entry("TASK_POSTPONED", "the provider could not be reached: ECONNREFUSED"),
      entry("TASK_POSTPONED", "the token was refused"),
    ]);
    expect(answers).toEqual({ done: 2, failed: { "503": 2, "422": 1, "401": 1, none: 1 } });
    expect(answersText(answers)).toBe("succeeded: 2, 401: 1, 422: 1, 503: 2, no answer: 1");
  });

  it("are no waits for the rate, the breaker or a token, and nothing of other functions", () => {
    const answers = recentAnswers([
      entry("TASK_POSTPONED", "the provider is down"),
      entry("TASK_POSTPONED", "the rate is used up"),
      entry("TASK_VOID"),
      entry("MESSAGE_REJECTED", "the provider answered 500", "store/users"),
    ]);
    expect(answersText(answers)).toBe("succeeded: 0");
  });
});
