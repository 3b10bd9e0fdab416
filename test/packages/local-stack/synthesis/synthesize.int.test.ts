import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { synthesize } from "@income-events/local-stack/synthesis/synthesize.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** Writes the number of runs, and its input, into its assembly. */
const app = `
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
const context = JSON.parse(process.env.CDK_CONTEXT_JSON);
if (context.stage === "wrong") {
  console.error("stage: is wrong");
  process.exit(1);
}
appendFileSync("runs.txt", "x");
writeFileSync(process.env.CDK_OUTDIR + "/manifest.json", JSON.stringify({
  run: readFileSync("runs.txt", "utf8").length, context, validation: process.env.CDK_VALIDATION,
  secret: process.env.SECRET_OF_THE_SHELL,
}));
`;

describe("synthesizing", () => {
  let project: string;
  let outputs = 0;

  const write = (name: string, text: string) => {
    mkdirSync(join(project, name, ".."), { recursive: true });
    writeFileSync(join(project, name), text);
  };
  const cdkJson = (more: object = {}) =>
    write(
      "cdk.json",
      JSON.stringify({ app: "node app.mjs", watch: { include: ["app.mjs", "src/**"] }, ...more }),
    );

  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), "income-events-project-"));
    write("app.mjs", app);
    write("src/deep/source.ts", "1");
    write("node_modules/.package-lock.json", "{}");
    write("settings.json", "{}");
    cdkJson({ context: { known: true } });
  });
  afterEach(() => rmSync(project, { recursive: true, force: true }));

  const at = async (stage = "local", settings?: string) => {
    outputs += 1;
    const directory = join(project, "out", String(outputs));
    await synthesize(stage, directory, settings, project);
    return JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8"));
  };

  it("runs the app of cdk.json as the CDK CLI does, without checks and without the shell's environment", async () => {
    process.env.SECRET_OF_THE_SHELL = "set";
    const manifest = await at();
    delete process.env.SECRET_OF_THE_SHELL;
    expect(manifest).toEqual({
      run: 1,
      validation: "false",
      context: {
        "aws:cdk:enable-path-metadata": true,
        "aws:cdk:enable-asset-metadata": true,
        "aws:cdk:disable-version-reporting": true,
        "aws:cdk:bundling-stacks": ["**"],
        known: true,
        stage: "local",
      },
    });
  });

  it("copies a cached assembly if nothing has changed", async () => {
    const first = await at();
    expect(await at()).toEqual(first);
    expect(await at("local", join(project, "settings.json"))).toMatchObject({ run: 2 });
    expect(await at("local", join(project, "settings.json"))).toMatchObject({ run: 2 });
    expect(await at()).toEqual(first);
  });

  const changes: Readonly<Record<string, () => void>> = {
    "a source": () => write("src/deep/source.ts", "2"),
    "a new source": () => write("src/deep/other.ts", "1"),
    "a source that is gone": () => rmSync(join(project, "src/deep/source.ts")),
    "a source's name": () => {
      rmSync(join(project, "src/deep/source.ts"));
      write("src/deep/renamed.ts", "1");
    },
    "the app": () => write("app.mjs", `${app}// changed`),
    "the context in cdk.json": () => cdkJson({ context: { known: false } }),
    "an installed package": () => write("node_modules/.package-lock.json", '{"version":2}'),
    "a file of settings": () => write("settings.json", '{"a":1}'),
  };

  it.each(Object.entries(changes))("runs the app anew after a change of %s", async (_, change) => {
    const settings = join(project, "settings.json");
    await at("local", settings);
    change();
    expect(await at("local", settings)).toMatchObject({ run: 2 });
  });

  it("runs the app anew for another stage, and for another version of Node", async () => {
    await at();
    expect(await at("other")).toMatchObject({ run: 2, context: { stage: "other" } });
    const { version } = process;
    Object.defineProperty(process, "version", { value: "v0.0.0", configurable: true });
    try {
      expect(await at()).toMatchObject({ run: 3 });
    } finally {
      Object.defineProperty(process, "version", { value: version, configurable: true });
    }
  });

  it("reports the app's output if it fails, and caches nothing", async () => {
    await expect(at("wrong")).rejects.toThrow("The stack could not be synthesized:\nstage: is wrong");
    expect(readdirSync(join(project, ".local/assemblies"))).toEqual([]);
  });

  it("caches nothing if cdk.json does not name the app's files under watch", async () => {
    cdkJson({ watch: undefined });
    await at();
    expect(await at()).toMatchObject({ run: 2 });
  });

  it("leaves one assembly if several processes synthesize at once", async () => {
    await Promise.all([at(), at(), at()]);
    expect(readdirSync(join(project, ".local/assemblies"))).toHaveLength(1);
  });

  it("names cdk.json if it has no app", async () => {
    write("cdk.json", "{}");
    await expect(at()).rejects.toThrow(`${join(project, "cdk.json")} does not say how`);
  });
});
