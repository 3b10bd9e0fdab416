import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { changed } from "../../proof/mutants/copy.ts";
import { protocolMutants } from "../../proof/mutants/protocol.ts";
import { runProtocolMutants } from "../../proof/mutants/run-protocol.ts";
import { scoreOf } from "../../proof/mutants/run-stryker.ts";
import { sampleLines } from "../../proof/mutants/sample-lines.ts";

const root = join(import.meta.dirname, "../..");
const textOf = (file: string) => readFileSync(join(root, file), "utf8");
const mutantOf = (part: string) => protocolMutants.filter(({ name }) => name.includes(part));

describe("the protocol's mutants", () => {
  it.each(protocolMutants)("change one place of the code: $name", ({ file, code, instead }) => {
    const text = textOf(file);
    expect(changed(text, code, instead, file)).not.toBe(text);
  });

  it.each(protocolMutants)("break a promise, and have tests that notice: $name", ({ breaks, tests }) => {
    expect(textOf("docs/evidence/promises.md").split("\n")).toContain(`### ${breaks}`);
    expect(tests.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(tests).not.toEqual([]);
  });

  it("are refused where their code is not there any more, or is there twice", () => {
    expect(() => changed("a b", "c", "d", "x.ts")).toThrow("x.ts: has this nowhere: c");
    expect(() => changed("a b a", "a", "d", "x.ts")).toThrow("x.ts: has this more than once: a");
  });

  const quick = "test/domain/state/state.test.ts";
  it("are caught where their tests fail, and reported where these pass", async () => {
    const [resurrection] = mutantOf("bring a deleted account back to life");
    if (resurrection === undefined) throw new Error("the mutant is gone");
    const harmless = {
      ...resurrection,
      name: "harmless",
      code: "/** Final: nothing",
      instead: "/** Final: no",
    };
    const lines: string[] = [];
    const mutants = [
      { ...resurrection, tests: [quick] },
      { ...harmless, tests: [quick] },
    ];
    const result = await runProtocolMutants(root, mutants, (line) => void lines.push(line));
    expect(result).toEqual({ caught: 1, missed: ["harmless"] });
    expect(lines[0]).toMatch(/^caught: bring a deleted account back to life \(a deletion is final/);
    expect(lines[1]).toBe("MISSED: harmless");
  });

  it("say nothing where their tests fail without them", async () => {
    const [mutant] = mutantOf("bring a deleted account back to life");
    if (mutant === undefined) throw new Error("the mutant is gone");
    const missing = { ...mutant, tests: ["test/domain/no-such.test.ts"] };
    await expect(runProtocolMutants(root, [missing], () => undefined)).rejects.toThrow("without any mutant");
  });
});

describe("Stryker's score", () => {
  it("is the share of tried mutants that fail a test, or never end", () => {
    const mutants = ["Killed", "Timeout", "Survived", "NoCoverage", "Ignored", "CompileError"].map(
      (status) => ({
        status,
      }),
    );
    const report = { files: { "a.ts": { mutants } } };
    expect(scoreOf(report, true)).toEqual({ noticed: 2, all: 4, percent: 50, isWhole: true });
    expect(scoreOf({ files: {} }, false)).toEqual({ noticed: 0, all: 0, percent: 0, isWhole: false });
  });
});

describe("a sample of lines", () => {
  const sample = (share: number) => sampleLines(root, "domain/**/*.ts", share);
  const all = sample(1);

  it("is the same each time, and a part of every larger one", () => {
    expect(sample(0.1)).toEqual(sample(0.1));
    expect(sample(0.5)).toEqual(expect.arrayContaining([...sample(0.1)]));
    expect(all).toContain("domain/state/state.ts:1-1");
  });

  it.each([0.05, 0.2, 0.5])("has about the share %d of them", (share) => {
    const found = sample(share).length / all.length;
    expect(found).toBeGreaterThan(share * 0.8);
    expect(found).toBeLessThan(share * 1.2);
  });
});
