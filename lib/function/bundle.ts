import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type BuildOptions, buildSync, type Metafile, type OutputFile } from "esbuild";

/** One function's code as Lambda gets it: file names, relative to the bundle, with their contents. */
export type Bundle = {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Source files that went into the bundle, relative to the repository. */
  readonly inputs: readonly string[];
};

// Never written to: sources in the source maps are relative to it, so that a bundle is the same wherever the
// repository lies.
const outputDirectory = "bundle";

const options = {
  bundle: true,
  write: false,
  metafile: true,
  platform: "node",
  target: "node24",
  format: "esm",
  minify: true,
  // Maps name files and lines; the sources themselves are in the repository, not in each function.
  sourcemap: "linked",
  sourcesContent: false,
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
 * and the SDK's chain that looks for others costs a third of a start.
 */
const lighter = {
  "@aws-sdk/credential-provider-node": "./adapters/aws/environment-credentials.ts",
  "node:process": "./adapters/aws/process-object.ts",
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
  const build = (file: string, output: string) => buildFile(repository, file, output, nameOf(entry));
  const main = build(entry, "index");
  const lazy = main.lazyImports.map((name) => build(`adapters/lazy/${name}.ts`, `lazy/${name}`));
  const built = [main, ...lazy];
  const files = new Map(built.flatMap((each) => each.files));
  if (lazy.length > 0) files.set("package.json", Buffer.from(packageFile));
  return {
    files,
    inputs: built.flatMap(({ inputs }) => inputs),
  };
}

/** As log lines call a function: `store/users` for `functions/store/users.ts`. */
function nameOf(entry: string): string {
  return entry.replace(/^functions\/|\.ts$/g, "");
}

/**
 * @param name of the file that is written, without its ending
 * @param functionName what the code finds in the place of `process.env.FUNCTION_NAME`
 */
function buildFile(repository: string, entry: string, name: string, functionName: string) {
  const { outputFiles, metafile } = buildSync({
    ...options,
    alias: lighter,
    define: { "process.env.FUNCTION_NAME": JSON.stringify(functionName) },
    absWorkingDir: repository,
    entryPoints: { [name]: join(repository, entry) },
  });
  const required = importsOf(metafile).find(({ kind }) => kind === "require-call");
  if (required !== undefined) {
    throw new Error(
      `${entry}: CommonJS code requires ${required.path}, which ESM can't; import another package`,
    );
  }
  return {
    files: outputFiles.map((file) => nameAndContents(repository, file)),
    inputs: Object.keys(metafile.inputs),
    lazyImports: importsOf(metafile)
      .filter(({ path }) => path.startsWith("#lazy/"))
      .map(({ path }) => path.slice("#lazy/".length)),
  };
}

function nameAndContents(repository: string, { path, contents }: OutputFile): [string, Uint8Array] {
  return [path.slice(join(repository, outputDirectory).length + 1), contents];
}

/** What is left to be imported when the bundle runs. */
function importsOf({ outputs }: Metafile) {
  return Object.values(outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ external }) => external === true);
}

/** Bundles on disk for as long as a synthesis needs them: `using bundler = createBundler(…)` removes them. */
export type Bundler = Disposable & {
  /** @returns the directory that holds the entry's bundle and, beside it, `settings.json` */
  readonly directoryOf: (entry: string, settings: unknown) => string;
};

export function createBundler(repository: string): Bundler {
  const root = mkdtempSync(join(tmpdir(), "income-events-bundles-"));
  return {
    directoryOf: (entry, settings) => {
      const directory = join(root, entry.replace(/\.ts$/, ""));
      writeBundle(directory, bundle(repository, entry));
      writeFileSync(join(directory, "settings.json"), JSON.stringify(settings, undefined, 2));
      return directory;
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Writes a bundle's files into a directory, which is made where it is not there. */
export function writeBundle(directory: string, { files }: Bundle): void {
  for (const [name, contents] of files) {
    const file = join(directory, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents);
  }
}
