import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A function's files: names, relative to its code, with their contents. */
export type Files = ReadonlyMap<string, Uint8Array>;

/** A function's code on disk. */
export type WrittenCode = {
  /** Holds the bundle and, beside it, `settings.json`. */
  readonly directory: string;
  /** Of all that lies there: it changes with a byte of it, and with nothing else. */
  readonly digest: string;
};

/** Writes a function's files and the settings that it reads into a directory, which is made where it is not there. */
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
