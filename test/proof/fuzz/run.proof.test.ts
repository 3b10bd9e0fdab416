import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { inputsOf, targetNames, targetOf } from "../../../proof/fuzz/targets.ts";

const run = promisify(execFile);
const program = join(import.meta.dirname, "../../../proof/fuzz/main.ts");
const fuzz = (...args: readonly string[]) => run(process.execPath, [program, ...args]);

/** Each target's campaign is a process of its own, which takes a while to start on a busy machine. */
const campaignsOfAll = { timeout: 1_200_000 };

describe("npm run proof -- fuzz", () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "fuzz-run-"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it(
    "breaks no promise with a few thousand inputs, and counts them on its last line",
    campaignsOfAll,
    async () => {
      const json = join(directory, "counts.json");
      const { stdout } = await fuzz("--inputs", "3000", "--seed", "7", "--json", json);
      expect(stdout).toMatch(/^fuzz: inputs 300\d crashes 0 hangs 0 lost 0 growth 0\n$/);
      const results = z
        .array(z.object({ name: z.string(), inputs: z.number(), corpus: z.number() }))
        .parse(JSON.parse(readFileSync(json, "utf8")));
      expect(results.map(({ name }) => name)).toEqual(targetNames);
      const planned = inputsOf(3_000, targetNames);
      for (const { name, inputs, corpus } of results) {
        const known = targetNames.find((one) => one === name);
        if (known === undefined) throw new Error(`${name} is no target`);
        expect(inputs, name).toBe(planned.get(known));
        // Inputs that reach what no seed does: the search sees the code.
        expect(corpus, name).toBeGreaterThan(targetOf(known).seeds.length);
      }
    },
  );

  it("gives one target an input of a file, and says what came of it", async () => {
    const input = join(directory, "input");
    writeFileSync(input, "2x-webhook-secret:the-secret\n\n{");
    expect((await fuzz("--target", "webhook", "--input", input)).stdout).toBe("webhook: its promise holds\n");
    await expect(fuzz("--input", input)).rejects.toMatchObject({
      code: 2,
      stderr: "Name one target with --target: it gets the input.\n",
    });
  });

  it.each([
    [["--inputs", "many"], /Write a whole number above zero/],
    [["--target", "nothing"], /Allowed choices are webhook/],
    [["--quick"], /unknown option '--quick'/],
  ])("refuses %j with what to write instead", async (args, says) => {
    await expect(fuzz(...args)).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(says) });
  });
});

describe("all inputs", () => {
  it("are at least as many as were asked for, whatever the targets", () => {
    for (const names of [targetNames, targetNames.slice(0, 3), targetNames.slice(0, 1)]) {
      const sum = [...inputsOf(1_000_000, names).values()].reduce((one, other) => one + other, 0);
      expect(sum).toBeGreaterThanOrEqual(1_000_000);
      expect(sum).toBeLessThan(1_000_000 + names.length);
    }
  });
});
