import { EventEmitter } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { awaitInterruption, waitUnlessAborted } from "../../../../packages/cli/core/interruption.ts";
import { agreeOnScan } from "../../../../packages/cli/core/scan-consent.ts";
import { createTerminal, foldLines, occasionally } from "../../../../packages/cli/core/terminal.ts";

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

describe("a scan", () => {
  const agree = async (size: { items: number; bytes: number }) => {
    const reported: string[] = [];
    const asked: string[] = [];
    const terminal = {
      progress: (text: string) => void reported.push(text),
      confirm: async (text: string) => void asked.push(text),
    };
    await agreeOnScan(size, terminal);
    return { reported, asked };
  };

  it("of a small table is announced with its cost", async () => {
    expect(await agree({ items: 12_345, bytes: 15_000_000 })).toEqual({
      reported: [
        "This reads the whole table: about 12,345 items, 15 MB, 1,832 read units, below US$ 0.01 at the list price of us-east-1.",
      ],
      asked: [],
    });
  });

  it("that costs more than ten cents needs a confirmation", async () => {
    const { reported, asked } = await agree({ items: 90_000_000, bytes: 100_000_000_000 });
    expect(reported).toEqual([]);
    expect(asked).toEqual([
      expect.stringContaining("100,000 MB, 12,207,032 read units, about US$1.53 at the list price"),
    ]);
  });
});

it("reports a few of many steps, and none of a short work", () => {
  const reported: string[] = [];
  let now = 0;
  const step = occasionally(
    (text) => reported.push(text),
    10,
    () => now,
  );
  for (const seconds of [0, 9, 11, 12, 20, 35]) {
    now = seconds * 1000;
    step(`${seconds} s`);
  }
  expect(reported).toEqual(["11 s", "35 s"]);
});

const failing = (code: string) => Object.assign(new Error(code), { code });

describe("a command that runs until it is interrupted", () => {
  it.each(["SIGINT", "SIGTERM"] as const)("ends on %s, and leaves no listener behind", (signal) => {
    const stdout = new EventEmitter();
    const before = process.listenerCount(signal);
    {
      using interruption = awaitInterruption({ stdout });
      expect(interruption.signal.aborted).toBe(false);
      process.emit(signal);
      expect(interruption.signal.aborted).toBe(true);
    }
    expect([process.listenerCount(signal), stdout.listenerCount("error")]).toEqual([before, 0]);
  });

  it("ends if its output is closed, and fails at any other error of it", () => {
    const stdout = new EventEmitter();
    using interruption = awaitInterruption({ stdout });
    expect(() => stdout.emit("error", failing("ENOSPC"))).toThrow("ENOSPC");
    expect(interruption.signal.aborted).toBe(false);
    stdout.emit("error", failing("EPIPE"));
    expect(interruption.signal.aborted).toBe(true);
  });
});

it("a wait ends after its time, or at once when it is aborted", async () => {
  const ending = new AbortController();
  await waitUnlessAborted(0.001, ending.signal);
  const long = waitUnlessAborted(3_600, ending.signal);
  ending.abort();
  await long;
  await waitUnlessAborted(3_600, ending.signal);
});
