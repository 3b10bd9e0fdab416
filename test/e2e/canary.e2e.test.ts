import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type LogCode, logCodes, logLevels } from "../../functions/runtime/log.ts";
import { originsOfCodes } from "../../scripts/documents/logs-page.ts";
import { eventually } from "../support/eventually.ts";
import type { ProviderAnswer } from "../support/test-provider.ts";
import {
  answers,
  archivedReasons,
  close,
  endpoint,
  fewReasons,
  forgetReconciliation,
  invoke,
  type Provocation,
  page,
  plantSecret,
  provoke,
  requestedRun,
  secrets,
  send,
  stage,
  start,
} from "./canary/canary-driver.ts";
import type { StoredMessage } from "./canary/canary-stage.ts";
import { scheduleProvocations, tokenProvocations } from "./canary/schedule-provocations.ts";
import { readProvocations, webhookProvocations } from "./canary/webhook-provocations.ts";

const written = {
  timestamp: z.iso.datetime(),
  level: z.enum(["INFO", "WARN", "ERROR"]),
  requestId: z.uuid(),
};
const logLine = z.union([
  z.object({ ...written, code: z.custom<LogCode>(isCode), function: z.string().regex(/^[a-z]+\/[a-z-]+$/) }),
  // Lambda's own line for an error that a handler throws.
  z.strictObject({ ...written, message: z.object({ errorType: z.string(), errorMessage: z.string() }) }),
]);
const levels: Partial<Record<LogCode, string>> = logLevels;

/** Provocations of each code, in order; their log lines are checked afterwards. Each new code needs one. */
const provocations: Readonly<Record<LogCode, Provocation>> = {
  ...webhookProvocations,
  ...readProvocations,
  ...tokenProvocations,
  ...scheduleProvocations,
};

describe("logs and stored data", () => {
  let messages: readonly StoredMessage[];

  beforeAll(start);
  afterAll(close);

  it.each(Object.keys(provocations).filter(isCode))("%s is logged on its path", async (code) => {
    const action = provocations[code];
    if (typeof action === "function") await provoke(code, action);
  });

  it("a bad answer to a read is rejected, each for its reason", async () => {
    // Created once: that takes longer than an answer may.
    const tooLarge = JSON.stringify({ data: plantSecret("an answer that is too large").repeat(900_000) });
    const bad: readonly (() => ProviderAnswer)[] = [
      () => page(400),
      () => page(422),
      () => ({ text: plantSecret("a file"), headers: { "content-type": "application/pdf" } }),
      () => ({
        status: 308,
        headers: { location: `https://elsewhere.example/${plantSecret("where a redirect leads")}` },
      }),
      () => ({ json: { data: [], next: { page: plantSecret("a cursor that is none") } } }),
      () => ({ text: tooLarge }),
    ];
    for (const answer of bad) {
      await provoke("MESSAGE_REJECTED", () => {
        answers(/\/income$/, answer);
        return send("endpoints", endpoint());
      });
    }
  });

  it.each([
    [/Refresh/, "secretsmanager:GetSecretValue"],
    [/^Regist/, "secretsmanager:GetSecretValue"],
    [/^Regist/, "dynamodb:UpdateItem"],
    [/^Reconcil/, "dynamodb:GetItem"],
    [/^Reconcil/, "dynamodb:PutItem"],
    [/Archive/, "sqs:ReceiveMessage"],
  ])("a function whose call to AWS fails, fails with a reason of its own: %s %s", async (id, action) => {
    await forgetReconciliation();
    stage().functionOf(id).kill();
    const end = stage().fails(id, action, { errorType: "AccessDeniedException" });
    const outcome = await invoke(id);
    end();
    expect(outcome).toMatchObject({ kind: "failed" });
    expect(stage().canaries.foundIn(JSON.stringify(outcome))).toEqual([]);
  });

  it("a webhook that can't be kept requests a reconciliation, which reads documents again if it may be about them", async () => {
    const started = Date.now();
    for (const [kind, rereads] of [
      ["users", false],
      ["endpoints", true],
    ] as const) {
      // A receiver requests one an hour.
      stage()
        .functionOf(new RegExp(`^${kind}Receive`, "i"))
        .kill();
      expect(await send(kind, `{"data":{"link":"${plantSecret("a link that can't be parsed")}"`)).toBe(503);
      await eventually(async () => {
        const request = await requestedRun();
        expect(request).toMatchObject({ rereads });
        expect(Date.parse(request?.until ?? "")).toBeGreaterThanOrEqual(started);
      }, 100);
    }
  });

  it("a function that is killed or throws writes only its own reasons", async () => {
    await provoke("TASK_DONE", async () => {
      await send("endpoints", endpoint());
      stage()
        .functionOf(/^Endpoints.*Store/)
        .kill();
      stage()
        .functionOf(/^Relay/)
        .kill();
    });
    expect(
      stage()
        .logged()
        .some((line) => line.includes('"errorType"')),
    ).toBe(true);
  });

  it("every log line is one JSON object with time, level, code, function and invocation", () => {
    // After a kill or a time-out, Lambda writes lines of its own.
    const lines = stage()
      .logged()
      .filter((line) => !/^(Runtime\.|Sandbox\.)/.test(line));
    const entries = lines.map((line) => logLine.parse(JSON.parse(line)));
    const codes = entries.flatMap((entry) => ("code" in entry ? [entry] : []));
    expect(codes.filter(({ code, level }) => level !== (levels[code] ?? "INFO"))).toEqual([]);
    expect(new Set(codes.map((entry) => entry.function)).size).toBe(stage().stack.functions.length);
    const origins = originsOfCodes();
    const isDocumented = ({ code, function: name }: (typeof codes)[number]) =>
      origins.get(code)?.some((origin) => origin === name || origin === name.replace(/\/.*/, "/*"));
    expect(codes.filter((entry) => !isDocumented(entry))).toEqual([]);
  });

  it("no log line contains a word of the input, of the provider's answers, or of AWS's errors", () => {
    const lines = stage().logged();
    expect(lines.length).toBeGreaterThan(100);
    const access = stage()
      .stack.accessLog()
      .map((entry) => JSON.stringify(entry));
    expect(access.length).toBeGreaterThan(10);
    const leaks = [...lines, ...access].filter((line) => stage().canaries.foundIn(line).length > 0);
    expect(leaks.map((line) => [stage().canaries.foundIn(line), line.slice(0, 600)])).toEqual([]);
  });

  it("no credential, unnamed header or error text reaches a queue, dead letter, table or bucket", async () => {
    messages = await stage().messages();
    const [items, objects] = [await stage().items(), await stage().objects()];
    expect(Math.min(messages.length, items.length, objects.length)).toBeGreaterThan(0);
    const stored = [...messages.flatMap(({ body, attributes }) => [body, attributes]), ...items, ...objects];
    const leaks = stored.map((text) =>
      stage()
        .canaries.foundIn(text)
        .filter((what) => secrets.has(what) || /^AWS's message/.test(what)),
    );
    expect(
      leaks.map((found, index) => [found, stored[index]?.slice(0, 300)]).filter(([found]) => found?.length),
    ).toEqual([]);
    // Checks the search itself: stored data does contain canaries.
    expect(stored.flatMap((text) => stage().canaries.foundIn(text))).toEqual(
      expect.arrayContaining(["a user's name", "what is no JSON", "data"]),
    );
  });

  it("attributes of dead letters and texts of alarms contain no word of it", async () => {
    const archived = await archivedReasons();
    const attributes = messages.map((message) => message.attributes);
    const reasons = attributes.filter((text) => text.includes("reason"));
    expect(Math.min(archived.length, reasons.length)).toBeGreaterThan(fewReasons);
    const alarms = stage()
      .stack.alarms()
      .map((alarm) => JSON.stringify(alarm));
    expect(stage().canaries.foundIn([...archived, ...attributes, ...alarms].join("\n"))).toEqual([]);
  });
});

function isCode(name: unknown): name is LogCode {
  return typeof name === "string" && name in logCodes;
}
