import { parseOptions } from "@income-events/local-stack/options.ts";
import { expect, onTestFinished, test, vi } from "vitest";

test.each([
  { args: [], version: undefined },
  { args: ["--interface", "0.4"], version: "0.4" },
  { args: ["--interface", "0.5"], version: "0.5" },
])("$args selects $version as the sandbox's interface", ({ args, version }) => {
  expect(parseOptions(args).interface).toBe(version);
});

test("an unknown interface is an error that names the known ones", () => {
  const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => {
    exit.mockRestore();
    write.mockRestore();
  });
  expect(() => parseOptions(["--interface", "0.6"])).toThrow("exit 1");
  expect(write).toHaveBeenCalledWith(expect.stringContaining("Allowed choices are 0.4, 0.5"));
});
