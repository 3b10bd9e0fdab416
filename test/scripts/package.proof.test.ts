import { execFile } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");

const app = `
const stack = new Stack(new App({ outdir: process.argv[2], builtinCloudFormationValidation: false }), "Lending");
const events = new IncomeEvents(stack, "Events", {
  stage: "dev",
  production: false,
  subscribers: [{ name: "billing" }],
});
const reader = new Role(stack, "Reader", { assumedBy: new AccountRootPrincipal() });
events.subscriber("billing").grantConsume(reader);
events.subscriber("billing").grantReadDocuments(reader);
stack.node.root.synth();
`;
const imports = `
import { App, Stack } from "aws-cdk-lib";
import { AccountRootPrincipal, Role } from "aws-cdk-lib/aws-iam";
import { IncomeEvents } from "@income-events/cdk";
`;
const readme =
  /^```ts\n(.*?)^```/ms.exec(readFileSync(join(repository, "scripts/package/README.md"), "utf8"))?.[1] ?? "";
const requires = imports.replace(/import (.*) from (.*);/g, "const $1 = require($2);");

describe("the package of the construct, unpacked beside CDK in a folder of its own", () => {
  let folder: string;
  let project: string;
  let installed: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "income-events-package-"));
    await run(process.execPath, [join(repository, "scripts/pack.ts"), "cdk", "--to", folder]);
    project = join(folder, "an app of somebody's");
    installed = join(project, "node_modules/@income-events/cdk");
    mkdirSync(installed, { recursive: true });
    const file = join(folder, "income-events-cdk-0.1.0.tgz");
    await run("tar", ["-xzf", file, "--strip-components=1", "-C", installed]);
    for (const peer of ["aws-cdk-lib", "constructs"])
      symlinkSync(join(repository, "node_modules", peer), join(project, "node_modules", peer));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const synthesized = async (name: string, text: string) => {
    writeFileSync(join(project, name), text);
    const outdir = join(project, `${name}.out`);
    // Runs an app as `cdk synth` does, without CDK's own template checks, which take seconds.
    const env = { ...process.env, CDK_OUTDIR: outdir, CDK_VALIDATION: "false" };
    await run(process.execPath, [name, outdir], { cwd: project, env });
    return outdir;
  };

  it("contains what an app needs in 3 MB: no source, no test, no script, no dependency", () => {
    expect(statSync(join(folder, "income-events-cdk-0.1.0.tgz")).size).toBeLessThan(3_000_000);
    const files = globSync("**/*.*", { cwd: installed, exclude: ["dist/template/**"] });
    expect(files.filter((file) => /(?<!\.d)\.ts$|test|sandbox\/|proof/.test(file))).toEqual([]);
    const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    expect(Object.keys(manifest)).not.toEqual(expect.arrayContaining(["scripts"]));
    expect(manifest.dependencies).toBeUndefined();
    expect(Object.keys(manifest.peerDependencies)).toEqual(["aws-cdk-lib", "constructs"]);
  });

  it("declares nothing but its own types and CDK's", () => {
    const declarations = globSync("dist/**/*.d.ts", { cwd: installed });
    const texts = declarations.map((file) => readFileSync(join(installed, file), "utf8"));
    const imported = texts.flatMap((text) =>
      [...text.matchAll(/from "([^."][^"]*)"/g)].map(([, name]) => name),
    );
    expect(imported.filter((name) => !/^(aws-cdk-lib|constructs)/.test(name ?? ""))).toEqual([]);
    expect(texts.join("\n")).not.toContain("WrittenProps");
  });

  it("names each package that something is bundled of, with its licence", () => {
    const notices = readFileSync(join(installed, "dist/NOTICES.txt"), "utf8");
    for (const name of ["zod", "commander", "@aws-sdk/client-sqs"])
      expect(notices).toMatch(new RegExp(`^${name} \\d.*\\(`, "m"));
  });

  it.each([
    ["an ES module", "app.mjs", imports + app],
    ["the one of its README", "readme.mjs", readme],
    ["CommonJS", "app.cjs", requires + app],
  ])(
    "is synthesized by an app that is %s, with the code and settings of each function",
    async (_, name, text) => {
      const outdir = await synthesized(name, text);
      const template = JSON.parse(readFileSync(join(outdir, "Lending.template.json"), "utf8"));
      const functions = Object.entries<{ Type: string }>(template.Resources).filter(
        ([, { Type }]) => Type === "AWS::Lambda::Function",
      );
      const assets = readdirSync(outdir).filter((each) => each.startsWith("asset."));
      expect(assets).toHaveLength(functions.length);
      for (const asset of assets)
        expect(readdirSync(join(outdir, asset))).toEqual(
          expect.arrayContaining(["index.mjs", "settings.json"]),
        );
    },
  );

  it("refuses a wrong property by its type, and at synthesis with its remedy", async () => {
    const wrong = app.replace("production: false,", "production: false, fetch: { maxConcurency: 5 },");
    writeFileSync(join(project, "typed.mts"), imports + wrong);
    const options = { module: "nodenext", strict: true, noEmit: true, skipLibCheck: true, types: [] };
    writeFileSync(
      join(project, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: ["typed.mts"] }),
    );
    const tsc = join(repository, "node_modules/.bin/tsc");
    const checked = run(tsc, ["-p", project]).catch((error: { stdout: string }) => error.stdout);
    expect(String(await checked)).toMatch(/'maxConcurency' does not exist in type 'FetchProps'/);
    await expect(synthesized("wrong.mjs", imports + wrong)).rejects.toThrow(
      /the properties of Lending\/Events:\n {2}fetch\.maxConcurency: no such setting; remove it, or correct it to one of: maxConcurrency/,
    );
  });

  it("refuses a peer that is too old or of another major version, and two copies of itself in one app", async () => {
    const fake = join(folder, "an app with an old peer");
    cpSync(project, fake, { recursive: true, verbatimSymlinks: true });
    const constructs = join(fake, "node_modules/constructs");
    rmSync(constructs);
    cpSync(join(repository, "node_modules/constructs"), constructs, { recursive: true });
    const file = join(constructs, "package.json");
    const manifest = JSON.parse(readFileSync(file, "utf8"));
    const itsApp = join(fake, "app of another peer.mjs");
    writeFileSync(itsApp, imports + app);
    for (const version of ["10.4.2", "11.0.0"]) {
      writeFileSync(file, JSON.stringify({ ...manifest, version }));
      await expect(run(process.execPath, [itsApp, join(fake, "out")], { cwd: fake })).rejects.toThrow(
        new RegExp(
          `works with constructs \\^10\\.\\d+\\.\\d+, and ${version} is installed: npm install --save-exact constructs@10\\.`,
        ),
      );
    }

    const other = join(project, "node_modules/a-library/node_modules/@income-events");
    mkdirSync(other, { recursive: true });
    cpSync(installed, join(other, "cdk"), { recursive: true });
    const second = `
import { createRequire } from "node:module";
const twice = createRequire(import.meta.url)("./node_modules/a-library/node_modules/@income-events/cdk");
const stack = new Stack(new App(), "Lending");
const props = { stage: "dev", production: false };
new IncomeEvents(stack, "One", props);
new twice.IncomeEvents(stack, "Two", props);
`;
    await expect(synthesized("twice.mjs", imports + second)).rejects.toThrow(
      /two copies of @income-events\/cdk, in \S.*, and install again \(npm dedupe/,
    );
  });

  it("brings the commands, which say their version and read the settings of the app's stages", async () => {
    const commands = join(installed, "dist/income-events.mjs");
    const { stdout } = await run(process.execPath, [commands, "--version"], { cwd: project });
    expect(stdout.trim()).toBe("0.1.0");
    const unknown = run(process.execPath, [commands, "key-policy", "--stage", "lost"], { cwd: project });
    await expect(unknown).rejects.toThrow("stages/lost.json not found");
    const help = await run(process.execPath, [commands, "--help"], { cwd: project });
    expect(help.stdout).toContain("npx --no --offline income-events webhooks register --help");
    const texts = globSync("dist/*.{mjs,js,json}", { cwd: installed }).map((file) =>
      readFileSync(join(installed, file), "utf8"),
    );
    expect(texts.filter((text) => /npx income-events|npm start/.test(text))).toEqual([]);
    const console = readFileSync(join(installed, "dist/cli.mjs"), "utf8");
    expect(console, "the console's page is read as it was bundled").toContain("console-page.json");
  });
});
