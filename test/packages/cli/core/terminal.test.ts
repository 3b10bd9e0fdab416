import { globSync, readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { createTerminal, foldLines } from "../../../../packages/cli/core/terminal.ts";

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

describe("a line that is wider than the screen", () => {
  it.each([
    ["NAME    COUNT  REASON", "NAME    COUNT\n    REASON"],
    ["Nothing was sent to it yet.", "Nothing was sent to\n    it yet."],
    ["Set it: npx income-events token set --force", "Set it:\n    npx income-events token set --force"],
    ['{"stage":"local","queues":[]}', '{"stage":"local","queues":[]}'],
    ["\u001b[31mtwenty columns wide\u001b[39m", "\u001b[31mtwenty columns wide\u001b[39m"],
  ])("breaks between columns and words: %j", (line, folded) => {
    expect(foldLines(line, 20)).toBe(folded);
  });

  it("fits 100 columns in each output that the guides show", () => {
    const pages = globSync("docs/**/*.md").map((file) => readFileSync(file, "utf8"));
    const outputs = pages.flatMap((page) =>
      [...page.matchAll(/^```console\n(.*?)^```/gms)].map(([, text = ""]) => text),
    );
    const lines = outputs.flatMap((text) => text.split("\n")).filter((line) => !line.startsWith("$ "));
    expect(lines.length).toBeGreaterThan(100);
    expect(
      lines.flatMap((line) => foldLines(line, 100).split("\n")).filter((line) => line.length > 100),
    ).toEqual([]);
  });
});
