import { describe, expect, test } from "vitest";
import { checkActions, checkAlarm } from "../../../../packages/cli/doctor/alarm-check.ts";
import type { Finding } from "../../../../packages/cli/doctor/finding.ts";
import {
  checkAddress,
  checkClockSkew,
  checkRegistrations,
  checkTokenState,
} from "../../../../packages/cli/doctor/provider-checks.ts";
import {
  checkDeadLetterCount,
  checkEventSources,
  checkFunction,
  checkReader,
} from "../../../../packages/cli/doctor/queue-checks.ts";
import type { TokenStatus } from "../../../../packages/cli/status/token-status.ts";
import type { QueueStatus } from "../../../../packages/cli/status/work-queues.ts";
import { shellWords } from "../../../support/command-line.ts";

const now = new Date("2026-11-21T12:00:00Z");
const day = 86_400;
const deploy = "npx cdk deploy -c stage=prod --outputs-file outputs.json";
/** A check's findings: nothing is wrong, or what is and which command fixes it. */
type Row = readonly [title: string, found: readonly Finding[], expected: readonly string[]];
const finds = (rows: readonly Row[]) =>
  test.each(rows)("%s", (_, found, expected) =>
    expect(found.map(({ what, fix }) => `${what} ${fix}`)).toEqual(expected),
  );

describe("the token", () => {
  const token: TokenStatus = {
    ...{ isSet: true, storedAt: "2026-11-21T00:00:00Z", storedBy: "refresh", refusal: "none" },
    expiresAt: "2026-11-21T12:00:01Z",
  };
  const set = "npx income-events token set < token.txt";
  const row = (title: string, known: TokenStatus, ...expected: readonly string[]): Row => [
    title,
    checkTokenState(known, now).findings,
    expected,
  ];
  const { expiresAt: _, ...endless } = token;
  finds([
    row("lives still", token),
    row("has no end", endless),
    row("is not set", { isSet: false }, `No token of the provider is set. ${set}`),
    row("has ended", { ...token, expiresAt: "2026-11-21T10:00:00Z" }, `The token expired 2h ago. ${set}`),
    row("is of no use", { ...token, refusal: "ended" }, `The provider refuses the token. ${set}`),
    row(
      "was refused once",
      { ...token, refusal: "noted" },
      "The provider refused a call with the token. npx income-events token refresh --now",
    ),
  ]);
});

describe("the webhooks at the provider", () => {
  const deployed = "https://api.example/webhooks/users";
  const users = { kind: "users", deployed } as const;
  const accounts = { kind: "accounts", deployed: "https://api.example/accounts" } as const;
  const other = { type: "elsewhere", url: "https://other.example/users" } as const;
  const register = "npx income-events webhooks register";
  const unknown = (reason: string) =>
    `The webhook registrations are unknown: ${reason}. npx income-events status --section webhooks`;
  const row = (
    title: string,
    status: Parameters<typeof checkRegistrations>[0],
    ...expected: readonly string[]
  ): Row => [title, checkRegistrations(status), expected];
  const address = (status: Parameters<typeof checkAddress>[0], url: string) =>
    checkAddress(status, url, "prod");
  const here = { webhooks: [{ ...users, type: "here" }] } as const;

  finds([
    row("come here", here),
    row("are not told", { webhooks: [{ ...users, type: "untold", reason: "the provider answered 405" }] }),
    row("are another stage's", { isLeftToAnother: true }),
    row(
      "are answered with something unreadable",
      { webhooks: [{ ...users, type: "untold", reason: "it is not JSON" }] },
      unknown("it is not JSON"),
    ),
    row("are unknown", { unknown: "the provider\nanswered 503" }, unknown("the provider answered 503")),
    row(
      "go to another path of ours",
      { webhooks: [{ ...users, type: "elsewhere", url: "https://api.example/old" }] },
      `The webhooks of users go to https://api.example/old, and not to ${deployed}. ${register}`,
    ),
    row(
      "of several kinds go to another stage, which one command puts right",
      { webhooks: [users, accounts].map((kind) => ({ ...kind, ...other })) },
      `The webhooks of users go to ${other.url}, and not to ${deployed}; those of accounts go to ${other.url}, and not to ${accounts.deployed}. ${register} --take-over`,
    ),
    row(
      "are registered by nobody",
      { webhooks: [users, accounts].map((kind) => ({ ...kind, type: "none" })) },
      `No webhook of users, accounts is registered. ${register}`,
    ),
    ["are at the address of the outputs", address(here, "https://api.example/webhooks"), []],
    [
      "are at another address than the outputs name",
      address(here, "https://older.example/webhooks"),
      [
        `The stage registers ${deployed}, and the outputs name https://older.example/webhooks/users. ${deploy}`,
      ],
    ],
    ["are another stage's, at any address", address({ isLeftToAnother: true }, "https://older.example"), []],
  ]);

  test.each([
    ["unsigned", "webhooks-unsigned", "error", "The provider does not sign the webhooks of users"],
    ["header", "webhooks-without-secret", "error", "The registration of users lacks the header"],
    ["signed", "webhooks-differ", "warning", "The provider signs the webhooks of users, and this stage"],
    ["method", "webhooks-differ", "warning", "The webhooks of users are not sent by POST."],
    ["enabled", "webhooks-differ", "warning", "The webhooks of users are not enabled."],
  ] as const)("that the provider registers otherwise are a finding: %s", (field, code, severity, what) => {
    expect(checkRegistrations({ webhooks: [{ ...users, type: "here", differs: [field] }] })).toEqual([
      expect.objectContaining({ code, severity, fix: register, what: expect.stringContaining(what) }),
    ]);
  });
});

test.each(["u1;touch FILE", "$(touch FILE)"])("a fix has the name %s as one argument", (name) => {
  const [letters] = checkDeadLetterCount(
    { name, waiting: 0, inFlight: 0, deadLetters: 1, retentionSeconds: day },
    "events-dead-letters",
  );
  expect(shellWords(letters?.fix ?? "")).toEqual(["income-events", "dlq", "show", name]);
  const [source] = checkEventSources("the queue", [{ id: name, state: "Disabled" }], "prod", name);
  expect(shellWords(source?.fix ?? "").slice(2)).toEqual(["--region", name, "--uuid", name, "--enabled"]);
  const [none] = checkEventSources("the queue", [], name, "eu-west-1");
  expect(shellWords(none?.fix ?? "").slice(2, 4)).toEqual(["-c", `stage=${name}`]);
});

describe("a queue", () => {
  const queue: QueueStatus = {
    ...{ name: "risk", waiting: 0, inFlight: 0, deadLetters: 0, retentionSeconds: 14 * day },
  };
  const letters = (more: Partial<QueueStatus>) => checkDeadLetterCount({ ...queue, ...more }, "events");
  const reader = (more: Partial<QueueStatus>, isRead = false) => checkReader({ ...queue, ...more }, isRead);
  const seeReaders = "npx income-events status --section subscribers";
  finds([
    ["has no dead letters", letters({}), []],
    [
      "has dead letters",
      letters({ deadLetters: 3, oldestDeadLetterSeconds: 2 * day }),
      ["risk has 3 dead letters, the oldest for 2d. npx income-events dlq show risk"],
    ],
    [
      "has one dead letter",
      letters({ deadLetters: 1 }),
      ["risk has 1 dead letter. npx income-events dlq show risk"],
    ],
    ["is empty, and nobody reads it", reader({}), []],
    ["was silent for less than an hour", reader({ waiting: 1, oldestSeconds: 3_599 }), []],
    ["is behind by less than half of its time", reader({ waiting: 9, oldestSeconds: 7 * day }, true), []],
    ["has all in flight", reader({ inFlight: 5, oldestSeconds: 9 * day }), []],
    [
      "is read by nobody",
      reader({ waiting: 2, oldestSeconds: 3_600 }),
      [`Nobody reads the queue of risk: 2 messages wait, the oldest for 1h. ${seeReaders}`],
    ],
    [
      "has a reader that will lose messages",
      reader({ waiting: 2, oldestSeconds: 7 * day + 1 }, true),
      [`The reader of risk is far behind: 2 messages wait, the oldest for 7d. ${seeReaders}`],
    ],
  ]);

  test("of a subscriber that has never read is a finding from the first minute on, but not on this machine", () => {
    const severityAt = (oldestSeconds: number, isLocal = false) =>
      checkReader({ ...queue, waiting: 284, oldestSeconds, neverRead: true }, false, isLocal)[0]?.severity;
    expect([59, 60, 3_600].map((age) => severityAt(age))).toEqual([undefined, "warning", "error"]);
    expect([60, 3_600].map((age) => severityAt(age, true))).toEqual([undefined, undefined]);
  });
});

describe("an event source or a function", () => {
  const sources = (...states: readonly string[]) => {
    const found = states.map((state) => ({ id: "4f1c", state }));
    return checkEventSources("the queue users", found, "prod", "eu-west-1");
  };
  const enable = "aws lambda update-event-source-mapping --region eu-west-1 --uuid 4f1c --enabled";
  const isOff = `The event source of the queue users is disabled. ${enable}`;
  finds([
    ["works, or will", sources("Enabled", "Creating", "Enabling", "Updating"), []],
    ["is disabled", sources("Disabled"), [isOff]],
    ["is being disabled", sources("Disabling"), [isOff]],
    ["is missing", sources(), [`No function is called for the queue users. ${deploy}`]],
    ...(["Active", "Pending", "Inactive"] as const).map(
      (State): Row => [
        `is ${State}`,
        checkFunction("relay", { State, LastUpdateStatus: "Successful" }, "prod"),
        [],
      ],
    ),
    [
      "has failed",
      checkFunction("relay", { State: "Failed", StateReason: "The key is disabled" }, "prod"),
      [`The function relay has failed: The key is disabled. ${deploy}`],
    ],
    [
      "could not be updated",
      checkFunction("relay", { State: "Active", LastUpdateStatus: "Failed" }, "prod"),
      [`The function relay has failed: no reason is given. ${deploy}`],
    ],
  ]);
});

describe("alarms", () => {
  const alarm = {
    ...{
      name: "stage-TokenRefused",
      entry: "token-refused",
      lookBackSeconds: 1_800,
      isOn: true,
      isTold: true,
    },
    description: "The provider refuses to refresh the token. Set a new token: npx income-events token set",
    since: new Date("2026-11-21T11:00:00Z"),
  };

  test("that are on are findings with their description and a command", () => {
    expect(checkAlarm({ ...alarm, isOn: false }, [], now)).toEqual([]);
    expect(checkAlarm(alarm, [], now)).toEqual([
      {
        code: "token-refused",
        severity: "warning",
        what: 'The alarm "token refused" has been on for 1h.',
        why: "The provider refuses to refresh the token.",
        fix: "npx income-events token set",
        isAlarm: true,
      },
    ]);
    const [other] = checkAlarm({ ...alarm, description: "Somebody's own.", since: undefined }, [], now);
    expect(other?.fix).toBe("see stage-TokenRefused in CloudWatch");
  });

  test("that notify nobody are a finding, which names the settings", () => {
    const deployment = (topic?: string) => ({ stage: "prod", optionalOutput: () => topic });
    const silent = { ...alarm, isTold: false };
    expect(checkActions([alarm], deployment("arn"))).toEqual([]);
    // As in stages/dev.json, which names no recipient.
    expect(checkActions([silent], deployment())).toEqual([]);
    expect(checkActions([alarm, silent], deployment("arn"))).toMatchObject([
      { what: "1 of 2 alarms notify nobody.", why: expect.stringContaining("alarms.emails"), fix: deploy },
    ]);
  });
});

test.each([
  [60, []],
  [-60, []],
  [61, [expect.stringMatching(/is 1m 1s ahead of AWS's/)]],
  [-61, [expect.stringMatching(/is 1m 1s behind AWS's/)]],
])("a clock that is %i seconds off", (seconds, expected) => {
  const found = checkClockSkew(now, new Date(now.getTime() + seconds * 1000));
  expect(found.map(({ what }) => what)).toEqual(expected);
});
