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
const words = (findings: readonly Finding[]) => findings.map(({ what, fix }) => `${what} ${fix}`);

describe("the token", () => {
  const token: TokenStatus = {
    isSet: true,
    expiresAt: "2026-11-21T12:00:01Z",
    storedAt: "2026-11-21T00:00:00Z",
    storedBy: "refresh",
    refusal: "none",
  };
  test.each<[string, TokenStatus]>([
    ["lives still", token],
    ["has no end", { isSet: true, storedAt: token.storedAt, storedBy: "operator", refusal: "none" }],
  ])("that %s is well", (_, known) => expect(checkTokenState(known, now).findings).toEqual([]));

  test.each<[string, TokenStatus, string]>([
    [
      "is not set",
      { isSet: false },
      "No token of the provider is set. npx income-events token set < token.txt",
    ],
    [
      "has ended",
      { ...token, expiresAt: "2026-11-21T10:00:00Z" },
      "The token expired 2h ago. npx income-events token set < token.txt",
    ],
    [
      "is of no use",
      { ...token, refusal: "ended" },
      "The provider refuses the token. npx income-events token set < token.txt",
    ],
    [
      "was refused once",
      { ...token, refusal: "noted" },
      "The provider refused a call with the token. npx income-events token refresh --now",
    ],
  ])("that %s is a finding", (_, known, text) =>
    expect(words(checkTokenState(known, now).findings)).toEqual([text]),
  );
});

describe("the webhooks at the provider", () => {
  const deployed = "https://api.example/webhooks/users";
  const known = { kind: "users", deployed } as const;

  test("are healthy if they come here, if that is unknown, and if another stage registers", () => {
    expect(
      checkRegistrations({
        webhooks: [
          { ...known, type: "here" },
          { ...known, type: "untold", reason: "the provider answered 405" },
        ],
      }),
    ).toEqual([]);
    expect(checkRegistrations({ isLeftToAnother: true })).toEqual([]);
  });

  test("that the provider answers with something unreadable are a finding", () => {
    const reason = "the registration of users is not JSON";
    expect(words(checkRegistrations({ webhooks: [{ ...known, type: "untold", reason }] }))).toEqual([
      `The webhook registrations are unknown: ${reason}. npx income-events status --section webhooks`,
    ]);
  });

  test.each([
    ["unsigned", "webhooks-unsigned", "error", "The provider does not sign the webhooks of users"],
    ["header", "webhooks-without-secret", "error", "The registration of users lacks the header"],
    ["signed", "webhooks-differ", "warning", "The provider signs the webhooks of users, and this stage"],
    ["method", "webhooks-differ", "warning", "The webhooks of users are not sent by POST."],
    ["enabled", "webhooks-differ", "warning", "The webhooks of users are not enabled."],
  ] as const)("that the provider registers otherwise are a finding: %s", (field, code, severity, what) => {
    expect(checkRegistrations({ webhooks: [{ ...known, type: "here", differs: [field] }] })).toEqual([
      expect.objectContaining({
        ...{ code, severity, fix: "npx income-events webhooks register" },
        what: expect.stringContaining(what),
      }),
    ]);
  });

  test("that go to another path of ours are registered again, and those of another stage are taken over", () => {
    const at = (url: string) =>
      words(checkRegistrations({ webhooks: [{ ...known, type: "elsewhere", url }] }));
    expect(at("https://api.example/old")).toEqual([
      `The webhooks of users go to https://api.example/old, and not to ${deployed}. npx income-events webhooks register`,
    ]);
    expect(at("https://other.example/users")[0]).toMatch(/npx income-events webhooks register --take-over$/);
  });

  test("of several kinds that one command puts right are one finding", () => {
    const accounts = { ...known, kind: "accounts", deployed: "https://api.example/accounts" } as const;
    const found = checkRegistrations({
      webhooks: [
        { ...known, type: "elsewhere", url: "https://other.example/users" },
        { ...accounts, type: "elsewhere", url: "https://other.example/accounts" },
      ],
    });
    expect(words(found)).toEqual([
      `The webhooks of users go to https://other.example/users, and not to ${deployed}; those of accounts go to https://other.example/accounts, and not to https://api.example/accounts. npx income-events webhooks register --take-over`,
    ]);
    expect(
      words(checkRegistrations({ webhooks: [known, accounts].map((one) => ({ ...one, type: "none" })) })),
    ).toEqual(["No webhook of users, accounts is registered. npx income-events webhooks register"]);
  });

  test("that are registered at another address than the outputs name are a finding", () => {
    const status = { webhooks: [{ ...known, type: "here" }] } as const;
    expect(checkAddress(status, "https://api.example/webhooks", "prod")).toEqual([]);
    expect(words(checkAddress(status, "https://older.example/webhooks", "prod"))).toEqual([
      `The stage registers ${deployed}, and the outputs name https://older.example/webhooks/users. npx cdk deploy -c stage=prod --outputs-file outputs.json`,
    ]);
    expect(checkAddress({ isLeftToAnother: true }, "https://older.example", "prod")).toEqual([]);
  });

  test("that nobody has registered, or that the provider does not know, are findings", () => {
    expect(words(checkRegistrations({ webhooks: [{ ...known, type: "none" }] }))).toEqual([
      "No webhook of users is registered. npx income-events webhooks register",
    ]);
    expect(words(checkRegistrations({ unknown: "the provider\nanswered 503" }))).toEqual([
      "The webhook registrations are unknown: the provider answered 503. npx income-events status --section webhooks",
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

describe("queues", () => {
  const queue: QueueStatus = {
    name: "risk",
    waiting: 0,
    inFlight: 0,
    deadLetters: 0,
    retentionSeconds: 14 * day,
  };

  test("with dead letters are findings, with how many and how old", () => {
    expect(checkDeadLetterCount(queue, "events-dead-letters")).toEqual([]);
    expect(
      words(
        checkDeadLetterCount(
          { ...queue, deadLetters: 3, oldestDeadLetterSeconds: 2 * day },
          "events-dead-letters",
        ),
      ),
    ).toEqual(["risk has 3 dead letters, the oldest for 2d. npx income-events dlq show risk"]);
    expect(words(checkDeadLetterCount({ ...queue, deadLetters: 1 }, "events-dead-letters"))[0]).toMatch(
      /^risk has 1 dead letter\. /,
    );
  });

  test.each<[string, Partial<QueueStatus>, boolean]>([
    ["is empty", {}, false],
    ["was silent for less than an hour", { waiting: 1, oldestSeconds: 3_599 }, false],
    ["is read, and behind by less than half of its time", { waiting: 9, oldestSeconds: 7 * day }, true],
    ["has all in flight", { inFlight: 5, oldestSeconds: 9 * day }, false],
  ])("a subscriber whose queue %s is well", (_, status, isRead) => {
    expect(checkReader({ ...queue, ...status }, isRead)).toEqual([]);
  });

  test("a subscriber that has never read is a finding from the first minute on, but not on this machine", () => {
    const severityAt = (oldestSeconds: number, isLocal = false) =>
      checkReader({ ...queue, waiting: 284, oldestSeconds, neverRead: true }, false, isLocal)[0]?.severity;
    expect([59, 60, 3_600].map((age) => severityAt(age))).toEqual([undefined, "warning", "error"]);
    expect([60, 3_600].map((age) => severityAt(age, true))).toEqual([undefined, undefined]);
  });

  test("a subscriber that nobody reads for is a finding, and so is a reader that will lose messages", () => {
    const [silent] = checkReader({ ...queue, waiting: 2, oldestSeconds: 3_600 }, false);
    expect(silent?.what).toBe("Nobody reads the queue of risk: 2 messages wait, the oldest for 1h.");
    const [behind] = checkReader({ ...queue, waiting: 2, oldestSeconds: 7 * day + 1 }, true);
    expect(behind?.what).toMatch(/^The reader of risk is far behind: 2 messages wait, the oldest for 7d/);
    expect(behind?.why).toMatch(/^SQS deletes messages after 14d: start the reader of risk\./);
  });
});

describe("event sources", () => {
  const sourceFindings = (...states: readonly string[]) =>
    words(
      checkEventSources(
        "the queue users",
        states.map((state) => ({ id: "4f1c", state })),
        "prod",
        "eu-west-1",
      ),
    );

  test.each(["Enabled", "Creating", "Enabling", "Updating"])("that are %s are well", (state) => {
    expect(sourceFindings(state)).toEqual([]);
  });

  test("that are disabled or missing are findings", () => {
    const enable = "aws lambda update-event-source-mapping --region eu-west-1 --uuid 4f1c --enabled";
    expect(sourceFindings("Disabled")).toEqual([
      `The event source of the queue users is disabled. ${enable}`,
    ]);
    expect(sourceFindings("Disabling")).toHaveLength(1);
    expect(sourceFindings()).toEqual([
      "No function is called for the queue users. npx cdk deploy -c stage=prod --outputs-file outputs.json",
    ]);
  });
});

test("a function that can't work as it is deployed is a finding, with Lambda's reason", () => {
  const fix = "npx cdk deploy -c stage=prod --outputs-file outputs.json";
  for (const State of ["Active", "Pending", "Inactive"] as const) {
    expect(checkFunction("relay", { State, LastUpdateStatus: "Successful" }, "prod")).toEqual([]);
  }
  expect(
    words(checkFunction("relay", { State: "Failed", StateReason: "The key is disabled" }, "prod")),
  ).toEqual([`The function relay has failed: The key is disabled. ${fix}`]);
  expect(words(checkFunction("relay", { State: "Active", LastUpdateStatus: "Failed" }, "prod"))).toEqual([
    `The function relay has failed: no reason is given. ${fix}`,
  ]);
});

test("an alarm that is on is a finding with its description and a command", () => {
  const description =
    "The provider refuses to refresh the token. Set a new token: npx income-events token set < token.txt";
  const alarm = {
    name: "stage-TokenRefused",
    entry: "token-refused",
    lookBackSeconds: 1_800,
    description,
    isOn: true,
    isTold: true,
    since: new Date("2026-11-21T11:00:00Z"),
  };
  expect(checkAlarm({ ...alarm, isOn: false }, [], now)).toEqual([]);
  expect(checkAlarm(alarm, [], now)).toEqual([
    {
      code: "token-refused",
      severity: "warning",
      what: 'The alarm "token refused" has been on for 1h.',
      why: "The provider refuses to refresh the token.",
      fix: "npx income-events token set < token.txt",
      isAlarm: true,
    },
  ]);
  const [other] = checkAlarm({ ...alarm, description: "Somebody's own.", since: undefined }, [], now);
  expect(other?.fix).toBe("see stage-TokenRefused in CloudWatch");
});

test("alarms that notify nobody are a finding, which names the settings", () => {
  const alarm = {
    name: "stage-A",
    entry: "a",
    lookBackSeconds: 60,
    description: "",
    isOn: false,
    isTold: true,
    since: undefined,
  };
  const deployment = (topic?: string) => ({ stage: "prod", optionalOutput: () => topic });
  expect(checkActions([alarm], deployment("arn"))).toEqual([]);
  // As in stages/dev.json, which names no recipient.
  expect(checkActions([{ ...alarm, isTold: false }], deployment())).toEqual([]);
  const [finding] = checkActions([alarm, { ...alarm, isTold: false }], deployment("arn"));
  expect(finding?.what).toBe("1 of 2 alarms notify nobody.");
  expect(finding?.why).toContain("alarms.emails");
  expect(finding?.fix).toContain("cdk deploy -c stage=prod");
});

test.each([
  [60, 0],
  [-60, 0],
  [61, 1],
  [-61, 1],
])("a clock that is %i seconds off causes %i findings", (seconds, count) => {
  expect(checkClockSkew(now, new Date(now.getTime() + seconds * 1000))).toHaveLength(count);
});

test("a clock's finding says which way it is off", () => {
  expect(checkClockSkew(now, new Date(now.getTime() + 120_000))[0]?.what).toMatch(/is 2m ahead of AWS's/);
  expect(checkClockSkew(now, new Date(now.getTime() - 120_000))[0]?.what).toMatch(/is 2m behind AWS's/);
});
