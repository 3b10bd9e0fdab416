import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bundle, writeBundle } from "../../lib/bundle.ts";
import { assemble } from "../assemble.ts";
import { type Part, type Side, sides } from "../sides.ts";

const repository = join(import.meta.dirname, "..", "..");

/** What stands beside the sides where an import is measured: the clients alone, and nothing at all. */
const references = ["clients", "empty"] as const;
export type Imported = Side | (typeof references)[number];

export type Bundles = Disposable & {
  /** The file that a function starts with, its settings beside it. */
  readonly fileOf: (name: Imported, part: Part) => string;
  /** All code of a function, compressed, in bytes. */
  readonly gzipBytesOf: (name: Imported, part: Part) => number;
};

/** Writes bundles where they can be imported from, as they are deployed. */
export function writeBundles(names: readonly Imported[]): Bundles {
  using cleanup = new DisposableStack();
  const root = cleanup.adopt(mkdtempSync(join(tmpdir(), "bench-bundles-")), (directory) =>
    rmSync(directory, { recursive: true }),
  );
  const assemblies = new Map(
    sides
      .filter((side) => names.includes(side))
      .map((side) => [side, cleanup.use(assemble(side, { hasEventSources: false }))]),
  );
  const directoryOf = (name: Imported, part: Part): string => {
    if (name !== "clients" && name !== "empty") return assemblies.get(name)?.codeOf(part) ?? "";
    const directory = join(root, name, part);
    const entry = name === "clients" ? `clients-${part}` : name;
    writeBundle(directory, bundle(repository, `bench/references/${entry}.ts`));
    return directory;
  };
  const disposal = cleanup.move();
  return {
    fileOf: (name, part) => join(directoryOf(name, part), "index.mjs"),
    gzipBytesOf: (name, part) => gzipBytes(directoryOf(name, part)),
    [Symbol.dispose]: () => disposal.dispose(),
  };
}

function gzipBytes(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".mjs"))
    .reduce((sum, name) => sum + gzipSync(readFileSync(join(directory, name)), { level: 9 }).byteLength, 0);
}
