import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";

const program = join(import.meta.dirname, "../../../proof/bench/main.ts");

it("a run that is ended by Ctrl-C leaves no files behind", async () => {
  const directory = await mkdtemp(join(tmpdir(), "interrupted-"));
  const child = spawn(process.execPath, [program, "--rows", "first-call"], {
    env: { ...process.env, TMPDIR: directory },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "exit");
  for await (const line of createInterface({ input: child.stderr })) {
    if (!line.includes("first call, 1 of")) continue;
    expect(await readdir(directory)).not.toEqual([]);
    child.kill("SIGINT");
  }
  expect(await ended).toEqual([130, null]);
  expect(await readdir(directory)).toEqual([]);
  await rm(directory, { recursive: true });
});
