import { describe, expect, it } from "vitest";
import { deliveriesIn } from "../../../../packages/cli/events/deliveries.ts";

const at = (second: number) => new Date(Date.UTC(2026, 10, 27, 12, 0, second)).toISOString();
const line = (second: number, code: string, fields: object) => ({
  ...{ timestamp: at(second), level: "INFO", function: "relay/changes", requestId: `run ${second}`, code },
  ...fields,
});
const parked = (second: number, subscriber: string, correlationIds: readonly string[], more: object) =>
  line(second, "SUBSCRIBER_PARKED", { subscriber, count: 1, correlationIds, ...more });
const denied = { reason: "AccessDenied" };
const stored = line(1, "EVENT_STORED", {
  function: "store/accounts",
  correlationIds: ["a", "b"],
  types: ["account.connected", "user.created"],
  subjects: ["account/1", "user/2"],
});
const relayed = (second: number, messages: number, ...correlationIds: string[]) =>
  line(second, "RELAYED", { correlationIds, messages, tasks: 0 });
const a = { id: "a", type: "account.connected", loggedAs: "account/1" };
const b = { id: "b", type: "user.created", loggedAs: "user/2" };

describe("deliveries to a subscriber by the functions' logs", () => {
  it.each([
    [
      "a delivery to a subscriber of everything",
      { name: "all" },
      [relayed(2, 2, "a", "b")],
      ["sent 2", [a, b]],
    ],
    [
      "the events that a filter matches",
      { name: "users", types: ["user.*"] },
      [relayed(2, 2, "a", "b")],
      ["sent 2", [b]],
    ],
    [
      "an event that the logs don't name",
      { name: "all" },
      [relayed(2, 1, "old")],
      ["sent 1", [{ id: "old" }]],
    ],
    ["nothing if only tasks were sent", { name: "all" }, [relayed(2, 0, "a")]],
    ["nothing if a filter matches no event", { name: "users", types: ["user.*"] }, [relayed(2, 1, "a")]],
    [
      "messages that its queue refused apart from those that it took in the same run",
      { name: "all" },
      [
        relayed(2, 2, "a", "b"),
        parked(2, "all", ["b"], denied),
        parked(2, "other", ["a"], denied),
        line(9, "SUBSCRIBER_UNREACHABLE", { subscriber: "all", reason: "AccessDenied" }),
        line(12, "SUBSCRIBER_RESENT", { subscriber: "all", count: 1 }),
      ],
      ["sent 1", [a]],
      ["parked 1 AccessDenied", [b]],
      ["unreachable - AccessDenied", []],
      ["resent 1", []],
    ],
    [
      "a message of the eraser that became a dead letter",
      { name: "all" },
      [parked(3, "all", ["b"], { function: "erase/subjects", reason: "KmsDisabled" })],
      ["refused 1 KmsDisabled", [b]],
    ],
  ] as const)("say %s", (_, subscriber, lines, ...expected) => {
    const told = deliveriesIn([stored, ...lines], subscriber);
    const texts = told.map(({ outcome, messages = "-", reason, events }) => [
      [outcome, messages, reason].filter((each) => each !== undefined).join(" "),
      events,
    ]);
    expect(texts).toEqual(expected);
  });
});
