import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, extname, join, parse, relative } from "node:path";
import { build } from "esbuild";
import { fieldsOf, optionalText, textOf } from "../../domain/core/parse.ts";
import { bundleAll, entriesIn } from "../../lib/function/bundle.ts";
import { digestOf, writeFiles } from "../../lib/function/code-files.ts";
import { prebuiltList } from "../../lib/function/prebuilt-code.ts";
import { buildCommands } from "./commands.ts";
import { forNode, installedTexts } from "./installed-texts.ts";

const repository = join(import.meta.dirname, "../..");

/** Builds the construct's package without our sources. */
export async function buildPackage(staging: string): Promise<void> {
  rmSync(staging, { recursive: true, force: true });
  const dist = join(staging, "dist");
  mkdirSync(dist, { recursive: true });
  const inputs = await Promise.all([
    buildFunctions(dist),
    buildConstructs(dist),
    buildCommands(repository, dist),
  ]);
  writeFileSync(join(dist, "NOTICES.txt"), notices(inputs.flat()));
  writeFiles(dist, declarations());
  for (const file of ["LICENSE", "CHANGELOG.md"]) cpSync(join(repository, file), join(staging, file));
  cpSync(join(import.meta.dirname, "README.md"), join(staging, "README.md"));
  writeFileSync(join(staging, "package.json"), `${JSON.stringify(manifest(), undefined, 2)}\n`);
}

/**
 * Bundles the functions as deployed: each file once, named by its digest.
 * @returns the inputs
 */
async function buildFunctions(dist: string): Promise<readonly string[]> {
  const kept = new Map<string, Uint8Array>();
  const bundles = await bundleAll(repository, entriesIn(repository));
  const functions = [...bundles].map(([entry, { files }]) => {
    const names = [...files].map(([name, contents]) => {
      const stem =
        name === "index.mjs" ? `${parse(dirname(entry)).name}--${parse(entry).name}` : parse(name).name;
      const file = `${stem}.${digestOf(new Map([["", contents]])).slice(0, 12)}${extname(name)}`;
      kept.set(file, contents);
      return [name, file];
    });
    return [entry, Object.fromEntries(names)];
  });
  kept.set(prebuiltList, Buffer.from(JSON.stringify(Object.fromEntries(functions), undefined, 2)));
  writeFiles(join(dist, "functions"), kept);
  return [...bundles.values()].flatMap(({ inputs }) => inputs);
}

/** CommonJS like CDK itself, which both kinds of apps can import. */
async function buildConstructs(dist: string): Promise<readonly string[]> {
  const { metafile } = await build({
    ...forNode,
    absWorkingDir: repository,
    entryPoints: [join(repository, "lib/index.ts")],
    outfile: join(dist, "index.js"),
    format: "cjs",
    // Node prints the source line of an error, which must not be the whole file.
    minify: false,
    external: ["aws-cdk-lib", "aws-cdk-lib/*", "constructs"],
    define: { "import.meta.dirname": "__dirname" },
    plugins: [installedTexts()],
  });
  return Object.keys(metafile.inputs);
}

function manifest(): object {
  const { version, license, description, devDependencies } = fieldsOf(
    JSON.parse(readFileSync(join(repository, "package.json"), "utf8")),
    "package.json",
  );
  const tried = fieldsOf(devDependencies, "devDependencies");
  return {
    name: "@income-events/cdk",
    version,
    description,
    license,
    keywords: ["aws-cdk", "cdk", "construct", "webhooks", "income-data"],
    engines: { node: ">=22" },
    main: "dist/index.js",
    types: "dist/index.d.ts",
    exports: {
      ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./package.json": "./package.json",
    },
    bin: { "income-events": "dist/income-events.mjs" },
    files: ["dist", "CHANGELOG.md"],
    peerDependencies: {
      "aws-cdk-lib": `^${textOf(tried, "aws-cdk-lib")}`,
      constructs: `^${textOf(tried, "constructs")}`,
    },
  };
}

/**
 * Declarations that `lib/index.ts` reaches, and no others.
 * @returns texts by path below `lib/`, `index.d.ts` first
 */
function declarations(): ReadonlyMap<string, Uint8Array> {
  const all = mkdtempSync(join(tmpdir(), "income-events-declarations-"));
  try {
    const project = join(import.meta.dirname, "declarations.json");
    execFileSync(join(repository, "node_modules/.bin/tsc"), ["-p", project, "--noCheck", "--outDir", all], {
      stdio: "inherit",
    });
    const lib = join(all, "lib");
    const waiting = [join(lib, "index.d.ts")];
    const done = new Map<string, Uint8Array>();
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      const name = relative(lib, file);
      if (done.has(name)) continue;
      const text = readFileSync(file, "utf8");
      const from = dirname(file);
      done.set(name, Buffer.from(text.replaceAll(/(from ")(\.[^"]*)\.ts(")/g, "$1$2.js$3")));
      waiting.push(
        ...[...text.matchAll(/from "(\.[^"]*)\.[jt]s"/g)].map(([, each = ""]) => join(from, `${each}.d.ts`)),
      );
    }
    return done;
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}

/**
 * Licenses of all bundled packages, with their texts.
 * @param inputs paths relative to the repository
 */
function notices(inputs: readonly string[]): string {
  const folders = new Set(
    inputs.flatMap((file) => /^(?:.*node_modules\/)(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  );
  return [...folders]
    .toSorted()
    .map((folder) => noticeOf(join(repository, folder)))
    .join(`\n${"-".repeat(80)}\n`);
}

function noticeOf(folder: string): string {
  const manifest = fieldsOf(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")), folder);
  const texts = globSync("{LICENSE,LICENCE,NOTICE}*", { cwd: folder }).toSorted();
  const name = `${textOf(manifest, "name")} ${textOf(manifest, "version")} (${optionalText(manifest, "license") ?? "see below"})`;
  return [name, ...texts.map((file) => readFileSync(join(folder, file), "utf8"))].join("\n\n");
}
