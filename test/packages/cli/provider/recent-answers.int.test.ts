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
      entry("TASK_POSTPONED", "the provider's answer has a content coding that is not known"),
      entry("TASK_POSTPONED", "the provider answered 200 with text/html in place of JSON"),
      entry("TASK_POSTPONED", "the provider answered 202: not ready"),
    ]);
    expect(answers).toEqual({
      done: 2,
      failed: { "503": 2, "422": 1, "401": 1, "200": 1, "202": 1, none: 2 },
    });
    expect(answersText(answers)).toBe(
      "succeeded: 2, 200 without data: 1, 202: 1, 401: 1, 422: 1, 503: 2, no answer: 2",
    );
  });

  it("are no waits for the rate, the breaker or a token, and nothing of other functions", () => {
    const answers = recentAnswers([
      entry("TASK_POSTPONED", "the provider is down"),
      entry("TASK_POSTPONED", "the rate is used up"),
      entry("TASK_SKIPPED"),
      entry("MESSAGE_REJECTED", "the provider answered 500", "store/users"),
    ]);
    expect(answersText(answers)).toBe("succeeded: 0");
  });
});
