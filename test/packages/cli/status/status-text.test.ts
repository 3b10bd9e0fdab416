import { describe, expect, test } from "vitest";
import type { StageStatus } from "../../../../packages/cli/status/stage-status.ts";
import { statusText } from "../../../../packages/cli/status/status-text.ts";
import type { TokenStatus } from "../../../../packages/cli/status/token-status.ts";
import type { QueueStatus } from "../../../../packages/cli/status/work-queues.ts";

const at = "2026-11-21T12:00:00.000Z";
const queue = (name: string, more: Partial<QueueStatus> = {}): QueueStatus => ({
  name,
  waiting: 0,
  inFlight: 0,
  deadLetters: 0,
  retentionSeconds: 1_209_600,
  ...more,
});
const token: Extract<TokenStatus, { isSet: true }> = {
  isSet: true,
  expiresAt: "2026-11-22T00:00:00.000Z",
  storedAt: "2026-11-21T11:00:00.000Z",
  storedBy: "refresh",
  refusal: "none",
};
const well: StageStatus = {
  stage: "prod",
  region: "eu-west-1",
  at,
  queues: [
    queue("users", { waiting: 12, inFlight: 3, oldestSeconds: 125, lastSentAt: "2026-11-21T11:57:00.000Z" }),
    queue("fetch", {
      deadLetters: 2,
      oldestDeadLetterSeconds: 90_000,
      lastSentAt: "2026-11-21T11:57:00.000Z",
    }),
    queue("subscriber/risk", { waiting: 1 }),
  ],
  token,
  registrations: { webhooks: [{ kind: "users", deployed: "https://api.example/users", type: "here" }] },
  wrongPaths: 0,
  alarms: [
    {
      name: "TokenRefused",
      entry: "token-refused",
      description: "Set a new token.",
      isOn: false,
      isTold: true,
      since: undefined,
      lookBackSeconds: 60,
    },
  ],
};

test("a stage fits on one screen", () => {
  expect(statusText(well)).toBe(`prod (eu-west-1) at ${at}

queue            waiting  in flight  oldest  dead letters  oldest dead  last event
users                 12          3  2m 5s              0  -            2m ago
fetch                  0          0  -                  2  1d 1h        -
subscriber/risk        1          0  ?                  0  -            -

token     ends in 12h, stored 1h ago
webhooks  1 of 1 kinds are registered here
alarms    none of 1 is on`);
});

describe("a line says", () => {
  const lineOf = (name: string, more: Partial<StageStatus>) =>
    statusText({ ...well, ...more })
      .split("\n")
      .filter((line) => line.startsWith(name))
      .join();

  test.each<[string, StageStatus["token"], string]>([
    ["that none is set", { isSet: false }, "token     none is set"],
    ["when it ended", { ...token, expiresAt: "2026-11-21T10:00:00.000Z" }, "ended 2h ago"],
    ["that it is refused", { ...token, refusal: "ended" }, "the provider refuses it"],
    ["that a call was refused", { ...token, refusal: "noted" }, "refused a call with it"],
  ])("of the token %s", (_, known, text) => expect(lineOf("token", { token: known })).toContain(text));

  test("of requests by wrong paths how many there were", () => {
    expect(lineOf("paths", { wrongPaths: 3 })).toBe(
      "paths     3 requests in 24h led to no kind: see the access log",
    );
    expect(statusText({ ...well, wrongPaths: 0 })).not.toContain("paths");
  });

  test.each<[string, NonNullable<StageStatus["ignored"]>, string]>([
    ["that there are none", [{ name: "ping", count: 0 }], "ignored   none in 24h"],
    [
      "by name, the most frequent first",
      [
        { name: "ping", count: 3 },
        { name: "quiet", count: 0 },
        { name: "connector/status_updated", count: 130 },
      ],
      "ignored   connector/status_updated 130, ping 3 in 24h",
    ],
  ])("of ignored events %s", (_, ignored, text) => expect(lineOf("ignored", { ignored })).toBe(text));

  test.each<[string, StageStatus["registrations"], string]>([
    ["that another stage has them", { isLeftToAnother: true }, "another stage registers them"],
    ["that the provider is down", { unknown: "it is\ndown" }, "unknown: it is down"],
    [
      "where they go",
      { webhooks: [{ kind: "users", deployed: "a", type: "elsewhere", url: "https://other\u001b.example" }] },
      "0 of 1 kinds are registered here; users go to https://other .example",
    ],
    [
      "that there are none",
      { webhooks: [{ kind: "users", deployed: "a", type: "none" }] },
      "users are not registered",
    ],
    [
      "that the provider is silent",
      { webhooks: [{ kind: "users", deployed: "a", type: "untold", reason: "405" }] },
      "unknown of all: 405",
    ],
  ])("of the webhooks %s", (_, registrations, text) => {
    expect(lineOf("webhooks", { registrations })).toContain(text);
  });

  test("of webhooks that some are unknown, and never counts these as 0", () => {
    const users = { kind: "users", deployed: "a", type: "here" } as const;
    const accounts = { kind: "accounts", deployed: "b", type: "untold", reason: "it is not JSON" } as const;
    expect(lineOf("webhooks", { registrations: { webhooks: [users, accounts] } })).toBe(
      "webhooks  1 of 2 kinds are registered here; unknown of accounts: it is not JSON",
    );
  });

  test("of a subscriber that it has never read its queue", () => {
    const queues = [queue("subscriber/risk", { waiting: 1, neverRead: true }), queue("subscriber/other")];
    expect(lineOf("subscriber/risk", { queues })).toMatch(/ never read$/);
    expect(lineOf("subscriber/other", { queues })).toMatch(/ -$/);
  });

  test("in a colour what is wrong, and nothing else", () => {
    const paint = (format: string, text: string) => `<${format}>${text}</>`;
    expect(statusText(well, paint)).toBe(statusText(well));
    expect(statusText({ ...well, token: { isSet: false } }, paint)).toContain(
      "token     <red>none is set</>",
    );
  });

  test("for alarms that are on: the problem, its start, and how to check whether it is over", () => {
    const since = new Date("2026-11-21T11:57:00.000Z");
    const alarms = well.alarms.map((alarm) => ({ ...alarm, isOn: true, since }));
    expect(statusText({ ...well, alarms })).toMatch(
      /alarms {4}1 of 1 on; causes: npx income-events doctor\n {2}token refused has been on for 3m$/,
    );
  });
});
