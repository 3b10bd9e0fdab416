import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BuildOptions, type BuildResult, build, type Metafile, type Plugin } from "esbuild";
import { type Files, type WrittenCode, writeCode } from "./code-files.ts";

/** Code of one function: file contents by name, relative to the bundle. */
export type Bundle = {
  readonly files: Files;
  /** Source files that went into the bundle, relative to the repository. */
  readonly inputs: readonly string[];
};

// Only names the outputs; nothing is written to it.
const outputDirectory = "bundle";
/** Modules that functions import on demand. */
const lazyDirectory = "adapters/lazy";

/**
 * Lets esbuild drop what functions don't use of the SDK's generated files: the schemas of other operations, which it
 * keeps because their objects have computed keys, and all fields of the clients' package files but the version.
 */
const trimGenerated: Plugin = {
  name: "trim-generated",
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]@aws-sdk[\\/].+[\\/]schemas_0\.js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const constants = new Map(
        Array.from(source.matchAll(/^const (\w+) = ("\w+");$/gm), ([, name, text]) => [name, text]),
      );
      return { contents: source.replace(/\[(\w+)\](?=:)/g, (key, name) => constants.get(name) ?? key) };
    });
    onLoad({ filter: /[\\/]@aws-sdk[\\/]client-[^\\/]+[\\/]package\.json$/ }, async ({ path }) => {
      const { version }: { version?: unknown } = JSON.parse(await readFile(path, "utf8"));
      return { contents: JSON.stringify({ version }), loader: "json" };
    });
  },
};

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
  // Lazy imports are bundled as separate files. esbuild's splitting would also cut the startup code into a dozen files,
  // and Node would find, read and compile each of them.
  external: ["#lazy/*"],
  plugins: [trimGenerated],
} satisfies BuildOptions;

/**
 * Replacements for modules that slow down a cold start. Lambda provides credentials in the environment, and the SDK's
 * chain that looks for others takes a third of the start. Event streams, which no function uses, take an eighth.
 */
const lighter = {
  "@aws-sdk/credential-provider-node": "./adapters/aws/environment-credentials.ts",
  "node:process": "./adapters/aws/process-object.ts",
  "@smithy/core/event-streams": "./adapters/aws/no-event-streams.ts",
};

/** Where Node resolves lazy imports, in a bundle as in the repository. */
const packageFile = JSON.stringify({ type: "module", imports: { "#lazy/*": "./lazy/*.mjs" } });

/**
 * Bundles an entry file with everything that it imports, including the SDK. Imports of `#lazy/…` are bundled as files
 * beside it.
 * @param entry the entry file, relative to `repository`
 * @throws with esbuild's messages if something can't be resolved or parsed; if CommonJS code requires a Node module,
 * which would fail at run time
 */
export async function bundle(repository: string, entry: string): Promise<Bundle> {
  return bundleOf(entry, await build(optionsFor(repository, [entry])));
}

/** Bundles several entry files in one build, which parses shared modules once. @throws like `bundle` */
export async function bundleAll(
  repository: string,
  entries: readonly string[],
): Promise<ReadonlyMap<string, Bundle>> {
  const built = await build(optionsFor(repository, entries));
  return new Map(entries.map((entry) => [entry, bundleOf(entry, built)]));
}

/** Each entry and each lazy module becomes one file, without shared chunks. */
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

/** Has no folders, so that sources have the same paths in each function's source map. */
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
    ["index.mjs", Buffer.from(main.code)],
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

/** Imports that stay external until run time. */
function importsOf({ imports }: Metafile["outputs"][string]) {
  return imports.filter(({ external }) => external === true);
}

/** Bundles on disk during a synthesis: `using bundler = await createBundler(…)` removes them at the end. */
export type Bundler = Disposable & {
  /** @throws unless the entry is a file below `functions/` that exports a handler */
  readonly codeOf: (entry: string, settings: unknown, name: string) => WrittenCode;
};

/** Bundles all entry files. @throws like `bundle` */
export async function createBundler(repository: string): Promise<Bundler> {
  const bundles = await bundleAll(repository, entriesIn(repository));
  const root = mkdtempSync(join(tmpdir(), "income-events-bundles-"));
  return {
    codeOf: (entry, settings, name) => {
      const code = bundles.get(entry);
      if (code === undefined) throw new Error(`${entry} exports no handler`);
      return writeCode(join(root, name), code.files, settings);
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Lambda's entry files: those below `functions/` that export a handler. */
export function entriesIn(repository: string): readonly string[] {
  return globSync("functions/**/*.ts", { cwd: repository })
    .filter((file) => /^export const handler\b/m.test(readFileSync(join(repository, file), "utf8")))
    .sort();
}
