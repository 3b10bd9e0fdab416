import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchProject } from "@income-events/local-stack/stay-up/watch-project.ts";
import { readProject } from "@income-events/local-stack/synthesis/project.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

describe("the watch of a project", () => {
  let folder: string;
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "watched "));
    mkdirSync(join(folder, "stages"));
    mkdirSync(join(folder, "node_modules/.pnpm"), { recursive: true });
    write("cdk.json", JSON.stringify({ app: "node app.js", watch: { include: ["app.js", "stages/**"] } }));
    write("app.js", "one");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ["a file that cdk.json names", "app.js"],
    ["a new file of a folder that it names", "stages/local.json"],
    ["what npm has installed", "node_modules/.package-lock.json"],
    ["what pnpm has installed", "node_modules/.pnpm/lock.yaml"],
    ["what yarn 1 has installed", "node_modules/.yarn-integrity"],
    ["what a later yarn has installed", "node_modules/.yarn-state.yml"],
  ])("sees changed content of %s", async (_, name) => {
    using watching = watchProject(readProject(folder));
    const changed = watching.changed();
    write(name, "two");
    await changed;
  });

  it("sees a change between two waits once", async () => {
    using watching = watchProject(readProject(folder));
    write("app.js", "two");
    await watching.changed();
    let again = false;
    const next = watching.changed().then(() => {
      again = true;
    });
    write("app.js", "two");
    write("README.md", "of no concern");
    await Promise.resolve();
    expect(again).toBe(false);
    write("app.js", "three");
    await next;
  });
});
