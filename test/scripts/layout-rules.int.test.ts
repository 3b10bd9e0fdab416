import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");

const beside = ["packages/sandbox", "proof", "scripts", "test"];
const pipeline = ["domain", "adapters", "functions", "lib", "packages/cli", "bin"];

/** Which folders a folder may not import from. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  domain: ["adapters", "functions", "lib", "packages/cli", "bin", ...beside],
  adapters: ["functions", "lib", "packages/cli", "bin", ...beside],
  functions: ["lib", "packages/cli", "bin", ...beside],
  lib: ["adapters", "functions", "packages/cli", "bin", ...beside],
  "packages/cli": ["functions", "lib", "bin", ...beside],
  bin: ["domain", "adapters", "functions", "packages/cli", ...beside],
  "packages/sandbox": [...pipeline, "packages/local-stack", "proof", "scripts", "test"],
  "packages/local-stack": [...pipeline, "packages/subscriber", "proof", "scripts", "test"],
  "packages/subscriber": [...pipeline, "packages/sandbox", "proof", "scripts", "test"],
  proof: ["test"],
  "proof/chaos": [...pipeline, "test"],
  scripts: ["test"],
};

const allowed: Readonly<Record<string, readonly string[]>> = {
  adapters: ["domain"],
  functions: ["domain", "adapters"],
  lib: ["domain"],
  "packages/cli": ["domain", "adapters", "lib/settings/settings"],
  bin: ["lib"],
  proof: [...pipeline, "packages/sandbox", "scripts"],
  scripts: [...pipeline, "proof"],
  test: [...pipeline, ...beside],
};

/** Other ways of saying the same import, and imports of packages that a folder may not use. */
const forms: readonly (readonly [file: string, code: string])[] = [
  ["domain/dynamic.ts", 'export const later = () => import("../adapters/target.ts");'],
  ["domain/again.ts", 'export { target } from "../adapters/target.ts";'],
  ["domain/type.ts", 'import type { Target } from "../adapters/target.ts";\nexport type Copy = Target;'],
  ["domain/effect.ts", 'import "../adapters/target.ts";'],
  ["domain/sdk.ts", 'import "@aws-sdk/client-sqs";'],
  ["domain/workspace.ts", 'import "@income-events/sandbox/server.ts";'],
  ["adapters/cdk.ts", 'import "aws-cdk-lib";'],
  ["functions/cdk.ts", 'import "aws-cdk-lib/aws-sqs";'],
  ["packages/sandbox/workspace.ts", 'import "@income-events/local-stack/stack.ts";'],
];

const lines = (count: number) => "  call();\n".repeat(count);
/** What is too large: its file, its code, and the rule that refuses it. */
const tooLarge = [
  [
    "a file of more than 300 lines",
    "domain/long.ts",
    `${"call();\n".repeat(300)}call();`,
    "noExcessiveLinesPerFile",
  ],
  [
    "a function of more than 100 lines",
    "domain/work.ts",
    `export function work() {\n${lines(101)}}`,
    "noExcessiveLinesPerFunction",
  ],
  [
    "more than four parameters",
    "domain/many.ts",
    "export const many = (a: 1, b: 2, c: 3, d: 4, e: 5) => [a, b, c, d, e];",
    "useMaxParams",
  ],
] as const;
/** What just fits. */
const largest = [
  ["domain/long-enough.ts", "call();\n".repeat(299).trimEnd()],
  ["domain/work-enough.ts", `export function work() {\n${lines(98)}}`],
  ["domain/enough.ts", "export const many = (a: 1, b: 2, c: 3, d: 4) => [a, b, c, d];"],
] as const;

const circle = ["domain/circle/one.ts", "domain/circle/other.ts"] as const;
const nameOf = (folder: string) => folder.replaceAll("/", "-");
const importOf = (from: string, to: string) => {
  const up = "../".repeat(from.split("/").length);
  const file = to.includes("settings") ? to : `${to}/target`;
  return `import { target } from "${up}${file}.ts";\nexport const used = target;`;
};
const pairsOf = (rules: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(rules).flatMap(([from, targets]) =>
    targets.map((to) => [from, to, `${from}/imports-${nameOf(to)}.ts`] as const),
  );

const report = z.object({
  diagnostics: z.array(z.object({ category: z.string(), location: z.object({ path: z.string() }) })),
});

describe("the linter's rules for imports and sizes, with each violation planted", () => {
  let found: ReadonlyMap<string, readonly string[]>;

  beforeAll(async () => {
    const scratch = mkdtempSync(join(tmpdir(), "income-events-imports-"));
    const write = (file: string, code: string) => {
      mkdirSync(dirname(join(scratch, file)), { recursive: true });
      writeFileSync(join(scratch, file), `${code}\n`);
    };
    for (const file of ["biome.json", ".gitignore"]) cpSync(join(repository, file), join(scratch, file));
    for (const folder of new Set([...Object.keys(forbidden), ...Object.values(forbidden).flat()]))
      write(`${folder}/target.ts`, "export type Target = string;\nexport const target: Target = folder();");
    write("lib/settings/settings.ts", "export const target = 1;");
    for (const [from, to, file] of [...pairsOf(forbidden), ...pairsOf(allowed)])
      write(file, importOf(from, to));
    for (const [file, code] of forms) write(file, code);
    for (const [, file, code] of tooLarge) write(file, code);
    for (const [file, code] of largest) write(file, code);
    write(circle[0], 'import { other } from "./other.ts";\nexport const one = () => other;');
    write(circle[1], 'import { one } from "./one.ts";\nexport const other = () => one;');
    found = await lint(scratch);
    rmSync(scratch, { recursive: true });
  });

  it.each(pairsOf(forbidden))("refuse an import of %s from %s", (_from, _to, file) => {
    expect(found.get(file)).toContain("lint/style/noRestrictedImports");
  });

  it.each(forms)("refuse it in whatever form, and what a layer has no use for: %s", (file) => {
    expect(found.get(file)).toContain("lint/style/noRestrictedImports");
  });

  it.each(pairsOf(allowed))("let %s import from %s", (_from, _to, file) => {
    expect(found.get(file) ?? []).not.toContain("lint/style/noRestrictedImports");
  });

  it.each(tooLarge)("refuse %s", (_what, file, _code, rule) => {
    expect(found.get(file)?.filter((each) => each.endsWith(rule))).toHaveLength(1);
  });

  it.each(largest)("let pass what is as large as it may be: %s", (file) => {
    const sizes = tooLarge.map(([, , , rule]) => rule);
    expect(found.get(file)?.filter((each) => sizes.some((rule) => each.endsWith(rule))) ?? []).toEqual([]);
  });

  it("refuse a circle, in each of its files", () => {
    for (const file of circle) expect(found.get(file)).toContain("lint/suspicious/noImportCycles");
  });
});

/** The rules that files of a folder break, by file. */
async function lint(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const biome = join(repository, "node_modules/.bin/biome");
  const args = ["lint", "--reporter=json", "--max-diagnostics=none", "."];
  const { stdout } = await run(biome, args, { cwd: folder, maxBuffer: 16 * 1_048_576 }).catch(
    (error: unknown) => z.object({ stdout: z.string() }).parse(error),
  );
  const { diagnostics } = report.parse(JSON.parse(stdout));
  const byFile = Map.groupBy(diagnostics, ({ location }) => location.path);
  return new Map([...byFile].map(([file, each]) => [file, each.map(({ category }) => category)]));
}
