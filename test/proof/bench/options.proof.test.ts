import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { scaled } from "../../../proof/bench/effort.ts";
import { measurementsOf, rowNames } from "../../../proof/bench/measurements.ts";

const root = join(import.meta.dirname, "../../..");
const run = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [join(root, "proof", "bench", "main.ts"), ...args]).catch(
    (error: unknown) => error,
  );

describe("the rows that are asked for", () => {
  it("come with those of the same rounds, and no others", () => {
    expect(measurementsOf(["latency"]).flatMap(({ rows }) => rows)).toEqual(["rate", "latency"]);
  });

  it("have a name of their own each", () => {
    expect(new Set(rowNames).size).toBe(rowNames.length);
  });

  it("are refused where there is none, with those that there are", async () => {
    expect(await run("--rows", "cpu-store,speed")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/speed: no such row; choose of ddb-writes-0.*--help/s),
    });
  });
});

describe("the options of the benchmark", () => {
  it.each([
    ["--fast", "unknown option '--fast'"],
    ["--scale=2", "at most 1"],
  ])("are refused where they mean nothing: %s", async (option, remedy) => {
    expect(await run(option)).toMatchObject({ code: 1, stderr: expect.stringContaining(remedy) });
  });

  it("scale a run in whole histories of users", () => {
    const { spending, growth } = scaled(0.015);
    expect([spending.events, ...growth.loads].filter((events) => events % 10 !== 0)).toEqual([]);
    expect(scaled(1).imports).toBeGreaterThanOrEqual(31);
  });
});
