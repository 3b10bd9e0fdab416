import { createFunctionLog } from "@income-events/local-stack/lambda/function-log.ts";
import { isOfLevel } from "@income-events/local-stack/lambda/log-level.ts";
import { describe, expect, test } from "vitest";
import { scripted } from "./scripted-function.ts";

const lineOf = (level: string) => JSON.stringify({ timestamp: "2026-11-21T10:00:00Z", level, code: "DONE" });

test("what is below the function's log level is not in its log, and no metric counts it", () => {
  const written: string[] = [];
  const { plan } = scripted([], { jsonLog: { level: "WARN" } });
  const gateway = {
    region: "eu-central-1",
    account: "000000000000",
    authorize: () => ({ allowed: true, reason: "" }),
  };
  const log = createFunctionLog(plan, gateway, {
    onError: () => undefined,
    onWritten: (line) => written.push(line),
  });
  for (const level of ["INFO", "WARN", "ERROR"]) log.write(lineOf(level));
  expect(log.lines()).toEqual([lineOf("WARN"), lineOf("ERROR")]);
  expect(written).toEqual(log.lines());
});

const line = (level: unknown, timestamp: unknown = "2026-11-21T10:00:00.123Z") =>
  JSON.stringify({ timestamp, level, code: "DONE" });

describe("a line of a function with JSON logs", () => {
  test.each(["WARN", "warn", "ERROR", "FATAL"])("is written if its level is high enough: %s", (level) => {
    expect(isOfLevel(line(level), "WARN")).toBe(true);
  });

  test.each(["TRACE", "DEBUG", "INFO"])("is left out if its level is below the function's: %s", (level) => {
    expect(isOfLevel(line(level), "WARN")).toBe(false);
  });

  test.each([
    ["a level that is none", line("SEVERE")],
    ["no time", JSON.stringify({ level: "ERROR" })],
    ["a time that is none", line("ERROR", "noon")],
    ["plain text", "ERROR out of memory"],
    ["half an object", '{"level":"ERROR"'],
  ])("counts as INFO with %s", (_, text) => {
    expect(isOfLevel(text, "INFO")).toBe(true);
    expect(isOfLevel(text, "WARN")).toBe(false);
  });
});
