import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { commandOf, proofs } from "../../proof/catalogue.ts";

const repository = join(import.meta.dirname, "../..");
const execute = promisify(execFile);
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(repository, "package.json"), "utf8")));

const run = (...words: readonly string[]) =>
  execute(process.execPath, [join(repository, "proof/main.ts"), ...words]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => z.object({ code: z.number(), stdout: z.string(), stderr: z.string() }).parse(error),
  );

describe("npm run proof", () => {
  it("lists each proof with what it shows and how long it takes", async () => {
    const { code, stdout } = await run("--list");
    for (const { name, shows, takes } of proofs) {
      expect(stdout).toContain(`  ${name} `);
      expect(stdout).toContain(`${shows}\n`);
      expect(stdout).toContain(`Takes ${takes}.\n`);
    }
    expect(code).toBe(0);
  });

  it.each([["nonsense"], ["--nonsense"], ["Alarms"]])("refuses %s and lists what there is", async (name) => {
    const { code, stdout, stderr } = await run(name);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain(`There is no proof "${name}".`);
    expect(stderr).toContain("restore-drill");
  });

  it("asks for a name where there is none", async () => {
    expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining("Name a proof.") });
  });

  it("gives a proof its flags unchanged, its output and its exit code", async () => {
    const said = await run("capacity", "--rate", "5", "--stage", "local");
    expect(said.code).toBe(0);
    expect(said.stdout).not.toBe("");
    expect(await run("capacity", "--rate", "none")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("--rate"),
    });
    expect((await run("capacity", "--help")).stdout).toContain("Usage: npm run proof -- capacity [options]");
  });

  it.each(proofs)("has the program of $name", ({ program }) => {
    expect(existsSync(join(repository, program))).toBe(true);
  });

  it.each(proofs.filter(({ isScript }) => isScript))("runs what npm run $name runs", ({ name, program }) => {
    expect(scripts[name]).toBe(`node ${program}`);
    expect(commandOf(name)).toBe(`npm run ${name} --`);
  });
});

describe("the documents", () => {
  const pages = globSync(["*.md", "{docs,packages,proof}/**/*.md"], {
    cwd: repository,
    exclude: (path) => path.includes("node_modules"),
  });

  it.each(pages)("name only proofs that there are: %s", (page) => {
    const text = readFileSync(join(repository, page), "utf8");
    const named = [...text.matchAll(/npm run proof -- ([\w-]+)/g)].map(([, name]) => name);
    expect(named.filter((each) => each !== "--list" && proofs.every(({ name }) => name !== each))).toEqual(
      [],
    );
  });
});

describe("the scripts of package.json", () => {
  it("are the few that one learns", () => {
    expect(Object.keys(scripts).sort()).toEqual(
      "bench build chaos check docs format outage proof sandbox smoke start synth test test:proof test:unit".split(
        " ",
      ),
    );
  });
});
