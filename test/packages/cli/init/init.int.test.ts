import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { filesBeside, packageFiles, writeApp } from "../../../../packages/cli/commands/init.ts";

const repository = join(import.meta.dirname, "../../../..");
const template = join(repository, "examples/minimal");
const versions = z.record(z.string(), z.string());
const manifest = z.object({
  name: z.string(),
  scripts: versions,
  dependencies: versions,
  devDependencies: versions,
});

describe("init", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "an app's "));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const manifestOf = (app: string) =>
    manifest.parse(JSON.parse(readFileSync(join(app, "package.json"), "utf8")));

  it("writes an app of the folder's name, also below a path with spaces", () => {
    const app = join(folder, "my-events");
    // A relative path, as typed.
    const written = writeApp(relative(process.cwd(), app), { files: undefined, template });
    expect(written).toEqual(
      expect.arrayContaining([".gitignore", "app.ts", "package.json", "stages/prod.json", "subscriber.ts"]),
    );
    expect(manifestOf(app).name).toBe("my-events");
  });

  it("sets the feature flags that CDK recommends, as this repository does", () => {
    const contextOf = (file: string) => JSON.parse(readFileSync(file, "utf8"));
    const recommended = contextOf(
      join(repository, "node_modules/aws-cdk-lib/recommended-feature-flags.json"),
    );
    for (const app of [repository, template])
      expect(contextOf(join(app, "cdk.json")).context).toMatchObject(recommended);
  });

  it("keeps the files out of git that commands are shown with: tokens, keys and outputs", () => {
    const app = join(folder, "ignoring");
    writeApp(app, { files: undefined, template });
    execFileSync("git", ["init", "--quiet"], { cwd: app });
    const secret = ["token.txt", "key.txt", "outputs.json", "outputs-prod.json"];
    for (const cwd of [app, repository]) {
      const ignored = execFileSync("git", ["check-ignore", ...secret], { cwd, encoding: "utf8" });
      expect(ignored.trim().split("\n")).toEqual(secret);
    }
  });

  it("brings a workflow that runs preflight, and only scripts that it has", () => {
    const app = join(folder, "checked");
    writeApp(app, { files: undefined, template });
    const workflow = readFileSync(join(app, ".github/workflows/check.yml"), "utf8");
    expect(workflow).toContain("npx --no --offline income-events preflight --stage prod");
    const scripts = [...workflow.matchAll(/run: npm (?:run )?(?!ci)(\w+)/g)].map(([, name = ""]) => name);
    expect(Object.keys(manifestOf(app).scripts)).toEqual(expect.arrayContaining(scripts));
  });

  it("names exact versions: those that are tested here", () => {
    const app = join(folder, "exact");
    writeApp(app, { files: undefined, template });
    const { dependencies, devDependencies } = manifestOf(app);
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      const own = packageFiles[name] === undefined ? `node_modules/${name}/package.json` : "package.json";
      const tested = JSON.parse(readFileSync(join(repository, own), "utf8")).version;
      expect(`${name} ${version}`).toBe(`${name} ${tested}`);
    }
  });

  it("takes an empty folder, with or without a repository, and refuses any other", () => {
    mkdirSync(join(folder, "fresh/.git"), { recursive: true });
    expect(writeApp(join(folder, "fresh"), { files: undefined, template })).toContain("app.ts");
    expect(() => writeApp(join(folder, "fresh"), { files: undefined, template })).toThrow(
      /fresh is not empty: it holds \S+\. Name a folder that is not there, or empty\./,
    );
    writeFileSync(join(folder, "file"), "");
    expect(() => writeApp(join(folder, "file"), { files: undefined, template })).toThrow(/is a file: name/);
  });

  it.each(["My-Events", "-x", "node_modules", "a b"])(
    "refuses a name that npm has no use for: %s",
    (name) => {
      expect(() => writeApp(join(folder, name), { files: undefined, template })).toThrow(
        `The app can't be named ${JSON.stringify(name)}: give its folder a name of 1 to 64 lower-case letters`,
      );
    },
  );

  describe("of a package that was installed from its file", () => {
    let installed: string;
    const installedFrom = (resolved: string) => {
      const notes = { packages: { "node_modules/@income-events/cdk": { resolved } } };
      writeFileSync(join(folder, "cache/node_modules/.package-lock.json"), JSON.stringify(notes));
    };
    beforeEach(() => {
      installed = join(folder, "cache/node_modules/@income-events/cdk");
      mkdirSync(installed, { recursive: true });
      installedFrom("file:../the%20files/income-events-cdk-0.1.0.tgz");
      mkdirSync(join(folder, "the files"));
      for (const file of Object.values(packageFiles))
        writeFileSync(join(folder, "the files", `${file}-0.1.0.tgz`), file);
    });

    it("brings the files along: the app is installed from them wherever it goes", () => {
      const app = join(folder, "with-files");
      writeApp(app, { files: filesBeside(installed, "0.1.0"), template });
      expect(manifestOf(app).dependencies["@income-events/cdk"]).toBe(
        "file:packages/income-events-cdk-0.1.0.tgz",
      );
      expect(readFileSync(join(app, "packages/income-events-local-stack-0.1.0.tgz"), "utf8")).toBe(
        "income-events-local-stack",
      );
    });

    it("says which of the files is not there", () => {
      rmSync(join(folder, "the files/income-events-local-stack-0.1.0.tgz"));
      expect(() => filesBeside(installed, "0.1.0")).toThrow(
        /An app needs these files too: \S.*the files\/income-events-local-stack-0\.1\.0\.tgz\./,
      );
    });

    it("uses a registry's versions if it was installed from one", () => {
      installedFrom("https://registry.example/cdk.tgz");
      expect(filesBeside(installed, "0.1.0")).toBeUndefined();
    });
  });
});
