import { expect, test } from "vitest";
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

const known = { kind: "users", deployed: "a" } as const;
const since = new Date("2026-11-21T11:57:00.000Z");

test.each<[line: string, status: Partial<StageStatus>]>([
  ["token     none is set", { token: { isSet: false } }],
  ["token     ended 2h ago, stored 1h ago", { token: { ...token, expiresAt: "2026-11-21T10:00:00.000Z" } }],
  [
    "token     ends in 12h, stored 1h ago, the provider refuses it",
    { token: { ...token, refusal: "ended" } },
  ],
  [
    "token     ends in 12h, stored 1h ago, the provider refused a call with it",
    { token: { ...token, refusal: "noted" } },
  ],
  ["paths     3 requests in 24h led to no kind: see the access log", { wrongPaths: 3 }],
  ["ignored   none in 24h", { ignored: [{ name: "ping", count: 0 }] }],
  [
    "ignored   connector/status_updated 130, ping 3 in 24h",
    {
      ignored: [
        { name: "ping", count: 3 },
        { name: "quiet", count: 0 },
        { name: "connector/status_updated", count: 130 },
      ],
    },
  ],
  ["webhooks  another stage registers them (register.enabled)", { registrations: { isLeftToAnother: true } }],
  ["webhooks  unknown: it is down", { registrations: { unknown: "it is\ndown" } }],
  [
    "webhooks  0 of 1 kinds are registered here; users go to https://other .example",
    { registrations: { webhooks: [{ ...known, type: "elsewhere", url: "https://other\u001b.example" }] } },
  ],
  [
    "webhooks  0 of 1 kinds are registered here; users are not registered",
    { registrations: { webhooks: [{ ...known, type: "none" }] } },
  ],
  [
    "webhooks  unknown of all: 405",
    { registrations: { webhooks: [{ ...known, type: "untold", reason: "405" }] } },
  ],
  // An unknown one is never counted as 0.
  [
    "webhooks  1 of 2 kinds are registered here; unknown of accounts: it is not JSON",
    {
      registrations: {
        webhooks: [
          { ...known, type: "here" },
          { ...known, kind: "accounts", type: "untold", reason: "it is not JSON" },
        ],
      },
    },
  ],
  [
    "subscriber/risk        1          0  ?                  0  -            never read",
    { queues: [queue("subscriber/risk", { waiting: 1, neverRead: true })] },
  ],
  [
    "  token refused has been on for 3m",
    { alarms: well.alarms.map((alarm) => ({ ...alarm, isOn: true, since })) },
  ],
])("shows what differs: %s", (line, status) => {
  expect(statusText({ ...well, ...status }).split("\n")).toContain(line);
});

test("what is wrong has a colour, and nothing else", () => {
  const paint = (format: string, text: string) => `<${format}>${text}</>`;
  expect(statusText(well, paint)).toBe(statusText(well));
  expect(statusText({ ...well, token: { isSet: false } }, paint)).toContain("token     <red>none is set</>");
});
