import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A function's files: contents by name, relative to its code. */
export type Files = ReadonlyMap<string, Uint8Array>;

/** A function's code on disk. */
export type WrittenCode = {
  /** Contains the bundle and `settings.json`. */
  readonly directory: string;
  /** Digest of all names and contents in the directory. */
  readonly digest: string;
};

/** Writes a function's files and its settings to a directory, which is created if necessary. */
export function writeCode(directory: string, files: Files, settings: unknown): WrittenCode {
  const settingsFile = Buffer.from(JSON.stringify(settings, undefined, 2));
  const all = new Map([...files, ["settings.json", settingsFile]]);
  writeFiles(directory, all);
  return { directory, digest: digestOf(all) };
}

export function writeFiles(directory: string, files: Files): void {
  for (const [name, contents] of files) {
    const file = join(directory, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents);
  }
}

export function digestOf(files: Files): string {
  const hash = createHash("sha256");
  for (const [name, contents] of files) hash.update(`${name}\n${contents.byteLength}\n`).update(contents);
  return hash.digest("hex");
}
