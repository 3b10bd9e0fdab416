import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BuildOptions, type BuildResult, build, buildSync, type Metafile } from "esbuild";
import { type Files, type WrittenCode, writeCode } from "./code-files.ts";
import { nameOf } from "./entry-name.ts";

/** One function's code as Lambda gets it: file names, relative to the bundle, with their contents. */
export type Bundle = {
  readonly files: Files;
  /** Source files that went into the bundle, relative to the repository. */
  readonly inputs: readonly string[];
};

// Never written to: it names the outputs.
const outputDirectory = "bundle";
/** Modules that functions import when they need them. */
const lazyDirectory = "adapters/lazy";

const options = {
  bundle: true,
  write: false,
  metafile: true,
  platform: "node",
  target: "node24",
  format: "esm",
  minify: true,
  outdir: outputDirectory,
  outExtension: { ".js": ".mjs" },
  mainFields: ["module", "main"],
  logLevel: "silent",
  // What is imported so is in a file of its own, loaded when it is needed. Not esbuild's splitting: it cuts what the
  // function starts with into a dozen files as well, and each is found, read and compiled for itself.
  external: ["#lazy/*"],
} satisfies BuildOptions;

/**
 * What in a function takes the place of a module that makes its start long. Lambda gives credentials in the environment,
 * and the SDK's chain that looks for others costs a third of a start; its event streams, which no function has, an eighth.
 */
const lighter = {
  "@aws-sdk/credential-provider-node": "./adapters/aws/environment-credentials.ts",
  "node:process": "./adapters/aws/process-object.ts",
  "@smithy/core/event-streams": "./adapters/aws/no-event-streams.ts",
};

/** Where Node finds what is imported lazily, in a bundle as in the repository. */
const packageFile = JSON.stringify({ type: "module", imports: { "#lazy/*": "./lazy/*.mjs" } });

/**
 * Bundles one entry file with all that it imports, the SDK included; what it imports as `#lazy/…` is bundled beside it.
 * @param entry the entry file, relative to `repository`
 * @throws with esbuild's messages where something can't be resolved or parsed; where CommonJS code asks for Node's own
 * modules, which it could not when it runs
 */
export function bundle(repository: string, entry: string): Bundle {
  return bundleOf(entry, buildSync(optionsFor(repository, [entry])));
}

/** Bundles several entry files in one build, which reads what they share once. @throws as `bundle` */
export async function bundleAll(
  repository: string,
  entries: readonly string[],
): Promise<ReadonlyMap<string, Bundle>> {
  const built = await build(optionsFor(repository, entries));
  return new Map(entries.map((entry) => [entry, bundleOf(entry, built)]));
}

/** Each entry, and each lazy module, becomes one file: nothing is split into parts that several share. */
function optionsFor(repository: string, entries: readonly string[]) {
  const entryPoints = Object.fromEntries([
    ...entries.map((entry) => [outputNameOf(entry), join(repository, entry)]),
    ...globSync("*.ts", { cwd: join(repository, lazyDirectory) }).map((file) => [
      `lazy/${withoutEnding(file)}`,
      join(repository, lazyDirectory, file),
    ]),
  ]);
  return { ...options, alias: lighter, absWorkingDir: repository, entryPoints };
}

/** Without folders, so that sources have the same paths in each function's map. */
function outputNameOf(entry: string): string {
  return withoutEnding(entry).replaceAll("/", "--");
}

function withoutEnding(file: string): string {
  return file.replace(/\.ts$/, "");
}

type Built = BuildResult<typeof options>;

function bundleOf(entry: string, built: Built): Bundle {
  const main = outputOf(built, outputNameOf(entry));
  const lazy = main.lazyImports.map((name) => ({ name, output: outputOf(built, `lazy/${name}`) }));
  const outputs = [main, ...lazy.map(({ output }) => output)];
  const required = outputs.flatMap(({ imports }) => imports).find(({ kind }) => kind === "require-call");
  if (required !== undefined) {
    throw new Error(
      `${entry}: CommonJS code requires ${required.path}, which ESM can't; import another package`,
    );
  }
  const files = new Map([
    ["index.mjs", Buffer.from(`process.env.FUNCTION_NAME=${JSON.stringify(nameOf(entry))};\n${main.code}`)],
    ...lazy.map(({ name, output }) => [`lazy/${name}.mjs`, Buffer.from(output.code)] as const),
  ]);
  if (lazy.length > 0) files.set("package.json", Buffer.from(packageFile));
  return { files, inputs: outputs.flatMap(({ inputs }) => inputs) };
}

function outputOf({ outputFiles, metafile }: Built, name: string) {
  const path = `${outputDirectory}/${name}.mjs`;
  const output = metafile.outputs[path];
  const code = outputFiles.find((file) => file.path.endsWith(`/${path}`))?.text;
  if (output === undefined || code === undefined) throw new Error(`No bundle ${path}`);
  const imports = importsOf(output);
  return {
    code,
    imports,
    inputs: Object.keys(output.inputs),
    lazyImports: imports
      .filter(({ path }) => path.startsWith("#lazy/"))
      .map(({ path }) => path.slice("#lazy/".length)),
  };
}

/** What is left to be imported when the bundle runs. */
function importsOf({ imports }: Metafile["outputs"][string]) {
  return imports.filter(({ external }) => external === true);
}

/** Bundles on disk for as long as a synthesis needs them: `using bundler = await createBundler(…)` removes them. */
export type Bundler = Disposable & {
  /** @throws where the entry is no file below `functions/` that exports a handler */
  readonly codeOf: (entry: string, settings: unknown) => WrittenCode;
};

/** Bundles every entry file at once. @throws as `bundle` */
export async function createBundler(repository: string): Promise<Bundler> {
  const bundles = await bundleAll(repository, entriesIn(repository));
  const root = mkdtempSync(join(tmpdir(), "income-events-bundles-"));
  return {
    codeOf: (entry, settings) => {
      const code = bundles.get(entry);
      if (code === undefined) throw new Error(`${entry} exports no handler`);
      return writeCode(join(root, withoutEnding(entry)), code.files, settings);
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** What Lambda can invoke: the files below `functions/` that export a handler. */
export function entriesIn(repository: string): readonly string[] {
  return globSync("functions/**/*.ts", { cwd: repository })
    .filter((file) => /^export const handler\b/m.test(readFileSync(join(repository, file), "utf8")))
    .sort();
}
