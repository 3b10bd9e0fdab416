import { expect, it } from "vitest";
import { outagesIn, outageText, turnsIn } from "../../../../packages/cli/provider/provider-history.ts";
import { answersText, recentAnswers } from "../../../../packages/cli/provider/provider-status.ts";

const entry = (time: string, code: string, fields: object = {}) => ({
  ...{ timestamp: `2026-03-01T12:${time}.000Z`, level: "INFO", code, function: "fetch/data", ...fields },
});

it("the provider's history is in the functions' logs, newest first, with the findings", () => {
  const turns = turnsIn([
    entry("00:01", "PROVIDER_DOWN"),
    entry("00:02", "TASK_DONE"),
    entry("00:03", "PROVIDER_BACK", { function: "refresh/token" }),
    entry("00:04", "TOKEN_REFUSED", { function: "refresh/token", reason: "the provider answered 401" }),
    entry("00:05", "RECONCILED", { function: "reconcile/users", listed: 3, missing: 1, drift: 1 }),
  ]);
  expect(turns.map(({ at, ...turn }) => [at.slice(17, 19), turn])).toEqual([
    [
      "05",
      {
        topic: "reconciliation",
        code: "RECONCILED",
        by: "reconcile/users",
        counts: { listed: 3, missing: 1 },
      },
    ],
    [
      "04",
      {
        ...{ topic: "token", code: "TOKEN_REFUSED", by: "refresh/token", counts: {} },
        reason: "the provider answered 401",
      },
    ],
    ["03", { topic: "breaker", code: "PROVIDER_BACK", by: "refresh/token", counts: {} }],
    ["01", { topic: "breaker", code: "PROVIDER_DOWN", by: "fetch/data", counts: {} }],
  ]);
});

it("one outage is a breaker that opens, each probe that fails, and the answer that closes it", () => {
  const turns = turnsIn([
    entry("01:00", "PROVIDER_BACK"),
    entry("08:00", "PROVIDER_DOWN", { reason: "the provider answered 503" }),
    entry("10:00", "PROVIDER_DOWN", { reason: "timeout" }),
    entry("15:00", "PROVIDER_DOWN", { reason: "timeout" }),
    entry("20:05", "PROVIDER_BACK"),
    entry("30:00", "PROVIDER_DOWN", { reason: "the provider answered 500" }),
  ]);
  const now = new Date("2026-03-01T12:31:00.000Z");
  expect(outagesIn(turns).map((outage) => [outage.from.slice(14, 19), outageText(outage, now)])).toEqual([
    ["30:00", "down for 1m so far, 1 probe failed: the provider answered 500"],
    ["08:00", "down for 12m 5s, 3 probes failed: the provider answered 503"],
  ]);
});

it("the provider's last answers are counted by their status, as the reasons of the fetcher's log name them", () => {
  const postponed = [
    "the provider answered 503",
    "the provider answered 503",
    "the provider could not be reached: ECONNREFUSED",
    "the token was refused",
    "the provider's answer has a content coding that is not known",
    "the provider answered 200 with text/html in place of JSON",
    "the provider answered 202: not ready",
    // No answers: waits for the rate, the breaker or a token.
    "the provider is down",
    "the rate is used up",
  ].map((reason) => entry("00:00", "TASK_POSTPONED", { reason }));
  const answers = recentAnswers([
    ...postponed,
    entry("00:00", "TASK_DONE"),
    entry("00:00", "TASK_DONE"),
    entry("00:00", "TASK_SKIPPED"),
    entry("00:00", "MESSAGE_REJECTED", { reason: "the provider answered 422" }),
    entry("00:00", "MESSAGE_REJECTED", { reason: "the provider answered 500", function: "store/users" }),
  ]);
  expect(answers).toEqual({ done: 2, failed: { "503": 2, "422": 1, "401": 1, "200": 1, "202": 1, none: 2 } });
  expect(answersText(answers)).toBe(
    "succeeded: 2, 200 without data: 1, 202: 1, 401: 1, 422: 1, 503: 2, no answer: 2",
  );
});
