import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bundle } from "../../../lib/function/bundle.ts";
import { writeFiles } from "../../../lib/function/code-files.ts";
import { assemble } from "../assemble.ts";
import type { Implementation, Part } from "../implementations.ts";
import { scratchDirectory } from "../scratch.ts";

const repository = join(import.meta.dirname, "../../..");

/** What is imported: an implementation, the SDK's clients alone, or nothing at all. */
type Imported = Implementation | "clients" | "empty";

/** The directory that holds a function's bundle, with its settings beside it. */
export function bundleDirectory(name: Imported, part: Part): string {
  if (name !== "clients" && name !== "empty") {
    return assemble(name).codeOf(part);
  }
  const directory = scratchDirectory(name);
  const entry = name === "clients" ? `clients-${part}` : name;
  writeFiles(directory, bundle(repository, `proof/bench/references/${entry}.ts`).files);
  return directory;
}

/** All code of a function, compressed, in bytes. */
export function gzipBytes(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".mjs"))
    .reduce((sum, name) => sum + gzipSync(readFileSync(join(directory, name)), { level: 9 }).byteLength, 0);
}
