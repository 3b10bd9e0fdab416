import { brotliCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { StackAlarm } from "../../../../adapters/aws/stack-alarms.ts";
import { startRun } from "../../../../domain/reconcile/reconciliation.ts";
import { loadSettings, packSettings, unpackSettings } from "../../../../lib/settings/settings.ts";
import { checkAlarm } from "../../../../packages/cli/doctor/alarm-check.ts";
import { byCause, openFindings, reportText } from "../../../../packages/cli/doctor/causes.ts";
import type { Finding, Severity } from "../../../../packages/cli/doctor/finding.ts";
import { remedyFor, setToken } from "../../../../packages/cli/doctor/finding.ts";
import {
  checkProvider,
  checkReconciliation,
  checkRegistrations,
  checkTokenState,
} from "../../../../packages/cli/doctor/provider-checks.ts";
import { checkEventSources, checkQueues } from "../../../../packages/cli/doctor/queue-checks.ts";
import { settingsDifferences } from "../../../../packages/cli/doctor/settings-check.ts";
import { shellWords } from "../../../support/command-line.ts";

const now = new Date("2026-11-21T12:00:00Z");
const refused = {
  isSet: true,
  storedAt: "2026-11-21T00:00:00Z",
  storedBy: "operator",
  refusal: "ended",
} as const;
const finding = (code: string, severity: Severity = "error"): Finding => ({
  code,
  severity,
  what: `${code}.`,
  why: "",
  fix: "",
});
const alarmFinding = (code: string): Finding => ({ ...finding(code, "warning"), isAlarm: true });
const alarm = (entry: string, more: Partial<StackAlarm> = {}): StackAlarm => ({
  name: `stage-${entry}`,
  entry,
  description: "",
  isOn: true,
  isTold: true,
  since: new Date("2026-11-21T11:50:00Z"),
  lookBackSeconds: 1_800,
  ...more,
});

const down = { unknown: "the provider answered 503" };
const deployed = "https://api.example/webhooks/users";
const unsigned = { kind: "users", deployed, type: "here", differs: ["unsigned"] } as const;
const queues = checkQueues([
  { name: "accounts", waiting: 0, inFlight: 0, deadLetters: 1, retentionSeconds: 60 },
  { name: "fetch", waiting: 3, inFlight: 0, deadLetters: 0, retentionSeconds: 60 },
]);

test.each<[string, readonly Finding[], readonly (readonly [string, ...string[]])[]]>([
  [
    "a refused token is one finding, with the webhooks that can't be asked for and its alarms beneath",
    [
      ...checkRegistrations({ unknown: "the token was refused" }),
      ...checkTokenState(refused, now).findings,
      ...checkAlarm(alarm("token-refused"), [], now),
      ...checkAlarm(alarm("fetching-late"), [], now),
    ],
    [["token-refused", "webhooks-unknown", "token-refused", "fetching-late"]],
  ],
  [
    "a failing provider comes before everything that it delays",
    [
      ...checkRegistrations(down),
      ...checkProvider({ openUntil: now.getTime() + 30_000, opened: 2 }, down, now).findings,
      alarmFinding("provider-down"),
      alarmFinding("fetching-behind"),
    ],
    [["provider-down", "webhooks-unknown", "provider-down", "fetching-behind"]],
  ],
  [
    "refused webhooks follow from a registration without the signing secret",
    [...checkRegistrations({ webhooks: [unsigned] }), alarmFinding("webhooks-refused")],
    [["webhooks-unsigned", "webhooks-refused"]],
  ],
  [
    "the alarm that the relay is stopped follows from an event source that is disabled",
    [
      ...checkEventSources("the table's stream", [{ id: "1", state: "Disabled" }], "prod", "eu-west-1"),
      alarmFinding("relay-stopped"),
    ],
    [["event-source-off", "relay-stopped"]],
  ],
  [
    "a dead letter counts once: its queue's finding, and beneath it the alarm",
    [...queues.findings, alarmFinding("events-dead-letters")],
    [["events-dead-letters", "events-dead-letters"]],
  ],
  [
    "an alarm without a known cause is listed separately, after the other findings",
    [alarmFinding("webhooks-throttled"), finding("subscriber-unread")],
    [["subscriber-unread"], ["webhooks-throttled"]],
  ],
])("%s", (_, findings, expected) => {
  const codes = byCause(findings).map(({ code, follows }) => [code, ...follows.map((each) => each.code)]);
  expect(codes).toEqual(expected);
});

test("a failing provider is named with its answer and the next attempt", () => {
  const { findings } = checkProvider({ openUntil: now.getTime() + 30_000, opened: 2 }, down, now);
  expect(findings).toMatchObject([{ what: "The provider answered 503. Next attempt in 30s." }]);
});

test("queues without dead letters or messages clear their alarms", () => {
  expect(queues.well.map(({ code }) => code)).toEqual([
    ...["events-late", "fetching-dead-letters", "deadline-dead-letters", "deadlines-behind"],
    ...["erasure-dead-letters", "erasure-late", "subscriber-dead-letters", "subscriber-behind"],
  ]);
});

describe("what is fixed already", () => {
  const well = [{ code: "token-refused", since: new Date("2026-11-21T11:55:00Z") }];

  test("is no finding: the alarm that is still on is named with when it clears, and all is quiet", () => {
    const found = byCause(checkAlarm(alarm("token-refused"), well, now));
    expect(openFindings(found)).toEqual([]);
    expect(found).toMatchObject([{ clearsAt: "2026-11-21T12:27:00.000Z" }]);
    expect(reportText("local", { findings: found, checked: ["alarms"] })).toBe(
      [
        "Fixed already:",
        '   The alarm "token refused" is still on after the problem ended: it clears in 27m at the latest.',
        "",
        "Nothing is wrong with the stage local.",
        "Checked: alarms.",
      ].join("\n"),
    );
  });

  test("is not assumed if the alarm fired after the healthy check", () => {
    const later = alarm("token-refused", { since: new Date("2026-11-21T11:58:00Z") });
    expect(checkAlarm(later, well, now)).toMatchObject([{ severity: "warning" }]);
  });

  test("clears a failed reconciliation by a later one that came to its end", () => {
    const begun = startRun(undefined, new Date("2026-11-21T11:59:00Z"), true);
    const run = { ...begun, endedAt: "2026-11-21T11:59:30Z" };
    expect(checkReconciliation({ ...run, failure: "the list is not JSON" }, now).findings).toMatchObject([
      {
        code: "reconciliation-incomplete",
        what: "The last reconciliation failed 30s ago: the list is not JSON.",
        fix: "npx income-events reconcile now",
      },
    ]);
    const { well: after } = checkReconciliation(run, now);
    const dayLong = alarm("reconciliation-incomplete", { lookBackSeconds: 86_400 });
    expect(checkAlarm(dayLong, after, now)).toMatchObject([{ severity: "info" }]);
  });
});

test("findings are numbered from 1, each with its remedy and what follows from it", () => {
  const codes = ["undelivered-changes", "token-missing"].map((code) => finding(code));
  const findings = byCause([...codes, alarmFinding("token-missing")]);
  expect(reportText("local", { findings, checked: ["a", "b"] }).split("\n")).toEqual([
    ...["1. token-missing.", "   ", "   Next: ", "   Consequences:", "   - token-missing.", ""],
    ...["2. undelivered-changes.", "   ", "   Next: ", "", "Checked: a, b."],
  ]);
});

describe("a remedy", () => {
  const aws = { client: { region: "eu-west-1" } };
  const credentials = { accessKeyId: "A", secretAccessKey: "S" };
  const client = { region: "eu-west-1", endpoint: "http://127.0.0.1:4566", credentials };
  const sandbox = { baseUrl: "http://127.0.0.1:4010", control: "http://127.0.0.1:4011" };
  const here = { local: { pid: 1, ports: [4566], logs: "/x/.local/logs" }, client };

  test.each<[string, Parameters<typeof remedyFor>[1], Parameters<typeof remedyFor>[2], string]>([
    [
      "npx income-events token set < token.txt",
      aws,
      { stage: "prod", outputs: "o.json" },
      "npx income-events token set --stage prod --outputs o.json < token.txt",
    ],
    ["npx income-events dlq list", here, { local: "4566" }, "npx income-events dlq list --local 4566"],
    ["npx cdk deploy -c stage=local", here, {}, "npm start    (after Ctrl-C if it runs)"],
    [
      "aws lambda get-account-settings",
      here,
      {},
      "AWS_ENDPOINT_URL=http://127.0.0.1:4566 AWS_REGION=eu-west-1 AWS_ACCESS_KEY_ID=A AWS_SECRET_ACCESS_KEY=S aws lambda get-account-settings",
    ],
    [setToken, here, {}, setToken],
    [
      setToken,
      { ...here, local: { ...here.local, sandbox } },
      { local: "4566" },
      "npx income-events sandbox token --local 4566 | npx income-events token set --local 4566",
    ],
  ])("is a command for the deployment: %s", (fix, place, options, typed) => {
    expect(remedyFor(fix, place, options)).toBe(typed);
  });

  test.each(["a b.json", "u1;touch FILE", "$(touch FILE)", "a < b"])(
    "has what names the stage as one argument each: %s",
    (outputs) => {
      for (const [fix, place] of [
        ["npx income-events dlq list", aws],
        ["npx income-events logs --level WARN --since 1h", here],
      ] as const)
        expect(shellWords(remedyFor(fix, place, { stage: outputs, outputs })).slice(-4)).toEqual([
          "--stage",
          outputs,
          "--outputs",
          outputs,
        ]);
    },
  );
});

test("differing settings are listed with the deployed value and the file's", () => {
  const deployed = { provider: { rate: 60, paths: ["a", "b"] }, subscribers: [{ name: "all" }], gone: true };
  const file = { provider: { rate: 30, paths: ["a"] }, subscribers: [{ name: "all", types: ["data.*"] }] };
  expect(settingsDifferences(deployed, file)).toEqual([
    { setting: "gone", deployed: "true" },
    { setting: "provider.paths", deployed: '["a","b"]', file: '["a"]' },
    { setting: "provider.rate", deployed: "60", file: "30" },
    { setting: "subscribers[0].types", file: '["data.*"]' },
  ]);
  expect(settingsDifferences(deployed, deployed)).toEqual([]);
});

test("a stage's settings fit into an output, and come out of it as they were, unless they are too many", () => {
  const settings = loadSettings("local", "stages");
  const packed = packSettings(settings) ?? "";
  expect(packed).toMatch(/^[\w-]{100,3999}$/);
  expect(settingsDifferences(unpackSettings(packed), settings)).toEqual([]);
  const subscribers = Array.from({ length: 2_000 }, (_, index) => ({ name: `s${Math.sin(index)}` }));
  expect(packSettings(Object.assign({}, settings, { subscribers }))).toBeUndefined();
  for (const other of ["", "no settings", brotliCompressSync("x".repeat(1_000_001)).toString("base64url")])
    expect(unpackSettings(other)).toBeUndefined();
});
