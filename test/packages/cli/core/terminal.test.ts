import { PassThrough } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { createTerminal } from "../../../../packages/cli/core/terminal.ts";

describe("a question before something is destroyed", () => {
  it.each([
    ["Ctrl-C", "\x03"],
    ["Ctrl-D", "\x04"],
    ["no", "no\n"],
    ["nothing", "\n"],
  ])("is answered by %s as by no", async (_, typed) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const before = process.stdin;
    Object.defineProperty(process, "stdin", { value: stdin, configurable: true });
    const written = vi.spyOn(process.stderr, "write").mockImplementation(() => true);
    try {
      const asked = createTerminal({ json: false, yes: false }).confirm("All of it goes.");
      stdin.write(typed);
      await expect(asked).rejects.toMatchObject({ message: "Nothing was done.", exitCode: 2 });
    } finally {
      written.mockRestore();
      Object.defineProperty(process, "stdin", { value: before, configurable: true });
    }
  });
});
