import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BuildOptions, type BuildResult, buildSync, type Metafile, type OutputFile } from "esbuild";

/** One function's code as Lambda gets it: file names, relative to the bundle, with their contents. */
export type Bundle = {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Source files that went into the bundle, relative to the repository. */
  readonly inputs: readonly string[];
  /** Whether it holds CommonJS code that requires Node's own modules. */
  readonly requiresBuiltIns: boolean;
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
  // Keeps dynamic imports lazy: the client of S3 is loaded when a body is large, and else costs nothing.
  splitting: true,
  minify: true,
  // Maps name files and lines; the sources themselves are in the repository, not in each function.
  sourcemap: "linked",
  sourcesContent: false,
  outdir: outputDirectory,
  entryNames: "index",
  chunkNames: "chunk-[hash]",
  outExtension: { ".js": ".mjs" },
  mainFields: ["module", "main"],
  logLevel: "silent",
} satisfies BuildOptions;

// ESM has no `require`; CommonJS packages such as undici call it for Node's own modules.
const requireBanner =
  'import{createRequire as bundleRequire}from"node:module";const require=bundleRequire(import.meta.url);';

/**
 * Bundles one entry file with all that it imports, the SDK included.
 * @param entry the entry file, relative to `repository`
 * @throws with esbuild's messages where something can't be resolved or parsed
 */
export function bundle(repository: string, entry: string): Bundle {
  const build = (banner?: BuildOptions["banner"]) =>
    buildSync({
      ...options,
      ...(banner && { banner }),
      absWorkingDir: repository,
      entryPoints: [join(repository, entry)],
    });
  const plain = build();
  const needsRequire = requiresBuiltIns(plain.metafile);
  const result: BuildResult<typeof options> = needsRequire ? build({ js: requireBanner }) : plain;
  return {
    files: new Map(result.outputFiles.map((file) => nameAndContents(repository, file))),
    inputs: Object.keys(result.metafile.inputs),
    requiresBuiltIns: needsRequire,
  };
}

function nameAndContents(repository: string, { path, contents }: OutputFile): [string, Uint8Array] {
  return [path.slice(join(repository, outputDirectory).length + 1), contents];
}

function requiresBuiltIns({ outputs }: Metafile): boolean {
  return Object.values(outputs).some(({ imports }) =>
    imports.some(({ kind, external }) => kind === "require-call" && external === true),
  );
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
      mkdirSync(directory, { recursive: true });
      for (const [name, contents] of bundle(repository, entry).files) {
        writeFileSync(join(directory, name), contents);
      }
      writeFileSync(join(directory, "settings.json"), JSON.stringify(settings, undefined, 2));
      return directory;
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}
