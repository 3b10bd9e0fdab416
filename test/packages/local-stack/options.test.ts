import { parseOptions } from "@income-events/local-stack/options.ts";
import { expect, onTestFinished, test, vi } from "vitest";

test.each([
  { args: [], version: undefined },
  { args: ["--interface", "0.4"], version: "0.4" },
  { args: ["--interface", "0.5"], version: "0.5" },
])("$args selects $version as the sandbox's interface", ({ args, version }) => {
  expect(parseOptions(args).interface).toBe(version);
});

test.each([
  ["an unknown interface", ["--interface", "0.6"], "Allowed choices are 0.4, 0.5"],
  ["an option in place of a value", ["--json", "--ports", "auto"], "option '--json <file>' argument missing"],
  ["an option in place of a name", ["--stage", "--watch"], "option '--stage <name>' argument missing"],
  ["an unknown option", ["--twice"], "--twice"],
  ["a word in place of a number", ["--users", "many"], "whole number"],
])("%s is an error that says so", (_, args, text) => {
  const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => {
    exit.mockRestore();
    write.mockRestore();
  });
  expect(() => parseOptions(args)).toThrow("exit 1");
  expect(write).toHaveBeenCalledWith(expect.stringContaining(text));
});
