import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createProgram } from "../../packages/cli/program.ts";
import { shownCommands } from "./shown-commands.ts";

const root = join(import.meta.dirname, "../..");
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));

/** The function with which guides read the outputs; it is run below. */
const outputHelper = /^output\(\) \{ .* \}$/;

const shown = shownCommands();
const linesOf = (program: RegExp) => shown.filter(({ line }) => program.test(line));
const leaves = (await createProgram()).commands.flatMap((group) =>
  group.commands.length === 0
    ? [{ words: group.name(), command: group }]
    : group.commands.map((command) => ({ words: `${group.name()} ${command.name()}`, command })),
);

describe("a command that README, CONTRIBUTING, a guide or an operate page shows", () => {
  it.each(linesOf(/^npx income-events [a-z]/))("exists, with its options: $page, $line", ({ line }) => {
    const rest = line.replace("npx income-events ", "");
    const found = leaves.find(({ words }) => rest === words || rest.startsWith(`${words} `));
    expect(found, "no such command").toBeDefined();
    const known = ["--help", ...(found?.command.options ?? []).map(({ long }) => long)];
    const named = [...rest.matchAll(/ (--[a-z-]+)/g)].map(([, option]) => option);
    expect(named.filter((option) => !known.includes(option ?? ""))).toEqual([]);
  });

  it.each(linesOf(/\bnpm (run [a-z:]+|start|test)\b/))(
    "is a script of package.json: $page, $line",
    ({ line }) => {
      const [, name = ""] = /\bnpm (?:run )?([a-z:]+)/.exec(line) ?? [];
      // The pages also show scripts of the app that `init` writes.
      const ofAnApp = readFileSync(join(root, "examples/minimal/package.json"), "utf8").includes(
        `"${name}":`,
      );
      expect(name in scripts || ofAnApp, `package.json has no script ${name}`).toBe(true);
    },
  );

  it.each(linesOf(/^node /))("runs an existing file: $page, $line", ({ line }) => {
    expect(existsSync(join(root, line.split(" ")[1] ?? ""))).toBe(true);
  });

  it("read outputs with a working helper", () => {
    const directory = mkdtempSync(join(tmpdir(), "outputs-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    writeFileSync(
      join(directory, "outputs.json"),
      JSON.stringify({ "income-events-prod": { TableName: "events" } }),
    );
    const helper = shown.find(({ line }) => outputHelper.test(line))?.line ?? "";
    expect(
      execFileSync("bash", ["-c", `${helper}\noutput TableName`], { cwd: directory })
        .toString()
        .trim(),
    ).toBe("events");
  });
});
