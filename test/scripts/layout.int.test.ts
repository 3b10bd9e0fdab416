import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { layoutProblems, limits } from "../../scripts/layout/layout.ts";

const emptyFiles = (count: number, pathOf: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => ({ path: pathOf(index), text: "" }));
const lines = (count: number) => "//\n".repeat(count);

describe("the layout of a repository", () => {
  it("is sound up to its limits", () => {
    const files = [
      ...emptyFiles(limits.topFolders, (index) => `folder-${index}/a.ts`),
      ...emptyFiles(limits.filesPerFolder - 1, (index) => `folder-0/inner-${index}.ts`),
      { path: "folder-1/long.ts", text: lines(limits.linesPerFile) },
    ];
    expect(layoutProblems(files)).toEqual([]);
  });

  it("counts no dot folder and no file at the top as a folder", () => {
    const files = emptyFiles(limits.topFolders, (index) => `folder-${index}/a.ts`);
    expect(
      layoutProblems([...files, ...emptyFiles(1, () => ".ci/run"), ...emptyFiles(1, () => "a.ts")]),
    ).toEqual([]);
  });

  it("has no more folders at the top than can be taken in at a glance", () => {
    const files = emptyFiles(limits.topFolders + 1, (index) => `folder-${index}/a.ts`);
    expect(layoutProblems(files)).toEqual([
      expect.stringMatching(
        /^14 folders at the top, over 13 \(folder-0, .*\): move what serves the pipeline/,
      ),
    ]);
  });

  it("has no more files side by side than one reads through, the long lists excepted", () => {
    const tooMany = limits.filesPerFolder + 1;
    const listed = ["packages/cli/commands", "docs/adr", "docs/reference/schemas"];
    const files = listed.flatMap((folder) => emptyFiles(tooMany, (index) => `${folder}/${index}.ts`));
    expect(layoutProblems(files)).toEqual([]);
    expect(layoutProblems([...files, ...emptyFiles(tooMany, (index) => `domain/${index}.ts`)])).toEqual([
      "domain: 26 files side by side, over 25: move those of one concern into a folder of its name",
    ]);
  });

  it("has no source file that is too long, comments and blank lines included", () => {
    const text = lines(limits.linesPerFile + 1);
    expect(layoutProblems([{ path: "docs/page.md", text }])).toEqual([]);
    expect(layoutProblems([{ path: "domain/a.ts", text }])).toEqual([
      "domain/a.ts: 301 lines, over 300: move one concern into a file of its name",
    ]);
  });
});

describe("the check of the layout", () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  /** A repository with these files, of which one is tracked. */
  function repositoryOf(texts: Readonly<Record<string, string>>): string {
    const root = mkdtempSync(join(tmpdir(), "layout-"));
    folders.push(root);
    execFileSync("git", ["init", "--quiet"], { cwd: root });
    for (const [path, text] of Object.entries(texts)) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    execFileSync("git", ["add", Object.keys(texts)[0] ?? "."], { cwd: root });
    return root;
  }

  const check = (root: string) =>
    promisify(execFile)(process.execPath, ["scripts/layout/main.ts", "--root", root], {
      cwd: join(import.meta.dirname, "../.."),
    });

  it("passes a repository whose files are short, whatever is ignored", async () => {
    const root = repositoryOf({ ".gitignore": "dist/\n", "a/b.ts": "", "dist/large.ts": lines(400) });
    expect(await check(root)).toMatchObject({ stdout: "", stderr: "" });
  });

  it("fails with a line for each offender, tracked or new", async () => {
    const root = repositoryOf({ "a/tracked.ts": lines(301), "b/new.ts": lines(302) });
    await expect(check(root)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^a\/tracked\.ts: 301 lines.*\nb\/new\.ts: 302 lines.*\n$/),
    });
  });
});
