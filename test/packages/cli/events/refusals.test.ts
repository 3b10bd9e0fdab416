import { expect, test } from "vitest";
import { refusalsIn } from "../../../../packages/cli/events/event-history.ts";

const at = (second: number) => new Date(Date.UTC(2026, 10, 27, 12, 0, second)).toISOString();
const refused = (second: number, reason: string, source: string) => ({
  ...{ timestamp: at(second), level: "WARN", code: "WEBHOOK_REFUSED", kind: "users", reason, source },
});

test("refused webhooks are counted by kind, reason and source, the latest first", () => {
  const entries = [
    refused(1, "secret", "192.0.2.1"),
    refused(2, "body size", "192.0.2.1"),
    refused(3, "secret", "192.0.2.1"),
    { timestamp: at(4), level: "INFO", code: "WEBHOOK_ACCEPTED", kind: "users" },
    refused(5, "secret", "2001:db8::1"),
  ];
  expect(refusalsIn(entries)).toEqual([
    { kind: "users", reason: "secret", source: "2001:db8::1", count: 1, first: at(5), last: at(5) },
    { kind: "users", reason: "secret", source: "192.0.2.1", count: 2, first: at(1), last: at(3) },
    { kind: "users", reason: "body size", source: "192.0.2.1", count: 1, first: at(2), last: at(2) },
  ]);
});
