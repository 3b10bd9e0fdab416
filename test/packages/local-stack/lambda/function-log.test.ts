import { createFunctionLog } from "@income-events/local-stack/lambda/function-log.ts";
import { isOfLevel } from "@income-events/local-stack/lambda/log-level.ts";
import { expect, test } from "vitest";
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

test.each<readonly [string, "WARN" | "INFO" | undefined]>([
  ...["WARN", "warn", "ERROR", "FATAL"].map((level) => [line(level), "WARN"] as const),
  [line("INFO"), "INFO"],
  ["ERROR out of memory", "INFO"],
  ['{"level":"ERROR"', "INFO"],
  [line("SEVERE"), "INFO"],
  [line("ERROR", "noon"), "INFO"],
  [JSON.stringify({ level: "ERROR" }), "INFO"],
  ...["TRACE", "DEBUG"].map((level) => [line(level), undefined] as const),
])("a line of a function with JSON logs is written up to its level: %s", (text, highest) => {
  expect((["WARN", "INFO"] as const).find((level) => isOfLevel(text, level))).toBe(highest);
});
