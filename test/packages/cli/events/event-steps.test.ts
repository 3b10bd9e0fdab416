import { describe, expect, it } from "vitest";
import { eventSteps, webhookOf } from "../../../../packages/cli/events/event-steps.ts";
import type { LogEntry } from "../../../../packages/cli/logs/log-entries.ts";

const subscribers = [
  { name: "all" },
  { name: "data", types: ["data.*"] },
  { name: "users", types: ["user.*"] },
];
const at = (second: number) => `2026-03-01T12:00:${String(second).padStart(2, "0")}.000Z`;
const entry = (second: number, code: string, fields: object = {}): LogEntry => ({
  timestamp: at(second),
  level: "INFO",
  code,
  correlationId: "one",
  ...fields,
});
const stepsOf = (...entries: readonly LogEntry[]) => eventSteps(entries, { id: "one", subscribers });
const stored = entry(2, "EVENT_STORED", {
  correlationIds: ["other", "one"],
  types: ["user.created", "endpoint.updated"],
});

describe("the steps of an event by the functions' logs", () => {
  it("lead from its webhook through its storage to each subscriber that gets its messages", () => {
    const steps = stepsOf(
      entry(1, "WEBHOOK_ACCEPTED"),
      stored,
      entry(3, "RELAYED", { correlationIds: ["one"], tasks: 1, messages: 0 }),
      entry(4, "TASK_DONE", { task: "fetchDocument", subject: "account/digest" }),
      entry(5, "RELAYED", { correlationIds: ["one", "two"], tasks: 0, messages: 3 }),
    );
    expect(steps.map(({ at: time, step, detail }) => [time, step, detail])).toEqual([
      [at(1), "webhook", "in its queue"],
      [at(2), "stored", "endpoint.updated"],
      [at(3), "relayed", "1 task"],
      [at(4), "provider", "document fetch: answered"],
      [at(5), "sent", "to all, 3 messages for 2 events"],
      [at(5), "sent", "to data, at most 3 messages for 2 events"],
    ]);
  });

  it("count the calls to the provider, each with its answer and the time of the next", () => {
    const postponed = (second: number, reason: string) =>
      entry(second, "TASK_POSTPONED", { reason, delayInSeconds: 10 });
    const steps = stepsOf(
      stored,
      postponed(10, "the provider answered 503"),
      postponed(20, "the provider is down"),
      entry(30, "TASK_DONE", { task: "fetchDocument" }),
    );
    expect(steps.slice(1)).toEqual([
      {
        at: at(10),
        step: "provider",
        call: 1,
        detail: "the provider answered 503, waits 10 s",
        againAt: at(20),
        isFailure: true,
      },
      { at: at(20), step: "waits", detail: "the provider is down: 10 s", againAt: at(30) },
      { at: at(30), step: "provider", call: 2, detail: "document fetch: answered" },
    ]);
  });

  it("show failures: a failed webhook, a retried message, a dead letter", () => {
    const steps = stepsOf(
      entry(1, "WEBHOOK_FAILED", { reason: "ThrottlingException" }),
      entry(2, "MESSAGE_FAILED", { reason: "TimeoutError" }),
      entry(3, "MESSAGE_REJECTED", { reason: "it names nobody" }),
    );
    expect(steps.every(({ isFailure }) => isFailure === true)).toBe(true);
    expect(steps.map(({ step, detail }) => `${step}: ${detail}`)).toEqual([
      "webhook: ThrottlingException: the provider retries",
      "failed: TimeoutError: retried",
      "dead letter: it names nobody",
    ]);
  });
});

it("an event that is one of several of a webhook names it", () => {
  const line = entry(2, "EVENT_STORED", { correlationIds: ["a", "b"], webhooks: ["w", "b"] });
  expect(webhookOf([stored, line], "a")).toBe("w");
  expect(webhookOf([stored, line], "b")).toBeUndefined();
  expect(webhookOf([stored], "a")).toBeUndefined();
});
