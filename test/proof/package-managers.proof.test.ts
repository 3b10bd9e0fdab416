import { cpSync, existsSync, globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { notesOfInstalls } from "@income-events/local-stack/synthesis/project.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { filesIn, writeApp } from "../../packages/cli/commands/init.ts";
import { freePorts, run, type Source, start, startSource } from "../support/installed-app.ts";

const repository = join(import.meta.dirname, "../..");
const template = join(repository, "examples/minimal");
const fileOf = (name: string) => join(repository, "node_modules", name);

type Manager = {
  readonly program: string;
  readonly install: readonly string[];
  /** Prefix of a command that a package installs. */
  readonly exec: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

const pnpm: Manager = { program: fileOf("pnpm/bin/pnpm.cjs"), install: ["install"], exec: ["exec"] };
const classicYarn: Manager = {
  program: fileOf("yarn/bin/yarn.js"),
  // The registry serves esbuild as installed here: its install script has run, and cannot run again.
  install: ["install", "--ignore-scripts"],
  exec: ["--silent", "run"],
};
const yarn = (linker: string): Manager => ({
  program: fileOf("@yarnpkg/cli-dist/bin/yarn.js"),
  install: ["install"],
  exec: ["run"],
  env: { YARN_NODE_LINKER: linker },
});

describe("an app that another package manager than npm installs, below a path with spaces", () => {
  let folder: string;
  let source: Source;
  const apps = new Map<string, Awaited<ReturnType<typeof installed>>>();
  beforeAll(async () => {
    source = await startSource("somebody's other folder ");
    folder = source.folder;
    writeApp(join(folder, "my-events"), { files: filesIn(folder, "0.1.0"), template });
  });
  afterAll(() => source?.[Symbol.asyncDispose]());

  const installed = async (name: string, { program, install, exec, env }: Manager) => {
    const app = join(folder, name);
    cpSync(join(folder, "my-events"), app, { recursive: true });
    // Yarn searches for the project's root.
    writeFileSync(join(app, "yarn.lock"), "");
    const within = { env: { ...source.env, ...env, ...stores(folder, source.registry.url) } };
    const ofManager = (words: readonly string[]) => [process.execPath, program, ...words];
    await run(within, app, ofManager(install));
    return {
      app,
      exec: (...words: readonly string[]) => run(within, app, ofManager([...exec, ...words])),
      dev: () => start(within, app, ofManager(["run", "dev", "--users", "1", ...freePorts])),
    };
  };
  const synthesize = async ({ app, exec }: Awaited<ReturnType<typeof installed>>) => {
    // The npm app runs the template's checks.
    await exec("cdk", "synth", "--quiet", "--no-validation", "-c", "stage=prod");
    expect(globSync("cdk.out/*.template.json", { cwd: app })).toHaveLength(1);
    expect(await exec("income-events", "--version")).toContain("0.1.0");
    await expect(exec("income-events", "status")).rejects.toThrow("No system runs on this machine");
    expect(source.registry.unknown()).toEqual([]);
  };

  it.each([
    ["pnpm", pnpm],
    ["yarn-1", classicYarn],
    ["yarn-4", yarn("node-modules")],
  ])("has types that hold, is synthesized, and has its commands: %s", async (name, manager) => {
    const one = await installed(name, manager);
    await one.exec("tsc");
    await synthesize(one);
    // dev checks there whether another version was installed.
    expect(notesOfInstalls.filter((file) => existsSync(join(one.app, file)))).toHaveLength(1);
    // A package's own dependencies are not where only hoisting would put them.
    if (name === "pnpm") expect(existsSync(join(one.app, "node_modules/croner"))).toBe(false);
    apps.set(name, one);
  });

  it.each(["pnpm", "yarn-4"])("is run by dev, which brings its subscriber an event: %s", async (name) => {
    await using running = apps.get(name)?.dev();
    expect(await running?.printed(/^billing \| user\.created/)).toBeDefined();
  });

  it("is synthesized and has its commands under Plug'n'Play, unlike the compiler and dev", async () => {
    const one = await installed("plug-and-play", yarn("pnp"));
    expect(existsSync(join(one.app, "node_modules"))).toBe(false);
    await synthesize(one);
    await expect(one.exec("tsc")).rejects.toThrow();
    await expect(one.exec("income-events", "dev")).rejects.toThrow("nodeLinker: node-modules");
  });
});

/** The test's own folders and URLs, by each tool's variable names. */
function stores(folder: string, registry: string): Readonly<Record<string, string>> {
  return {
    npm_config_store_dir: join(folder, "pnpm-store"),
    YARN_CACHE_FOLDER: join(folder, "yarn-cache"),
    YARN_GLOBAL_FOLDER: join(folder, "yarn-global"),
    YARN_REGISTRY: registry,
    YARN_NPM_REGISTRY_SERVER: registry,
    YARN_UNSAFE_HTTP_WHITELIST: "127.0.0.1",
    // The registry does not know the age of a version.
    YARN_NPM_MINIMAL_AGE_GATE: "0",
    YARN_ENABLE_IMMUTABLE_INSTALLS: "false",
    YARN_ENABLE_TELEMETRY: "false",
    INCOME_EVENTS_RUNNING: join(folder, "running"),
  };
}
