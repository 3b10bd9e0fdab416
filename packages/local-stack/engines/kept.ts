import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** Stack and engine that wrote a directory. */
export type Kept = { readonly stack: string; readonly engine: string };

const keptBy = z.object({ stack: z.string(), engine: z.string() });
const fileName = "kept";

export function holdsState(directory: string): boolean {
  return keptJson(directory, fileName).load() !== undefined;
}

/**
 * Claims a directory for a system.
 * @throws if another system or another engine wrote it
 */
export function checkKept(directory: string | undefined, own: Kept): void {
  if (directory === undefined) return;
  const file = keptJson(directory, fileName);
  const value = file.load();
  const known = value === undefined ? own : keptBy.parse(value);
  if (known.stack !== own.stack || known.engine !== own.engine)
    throw new Error(
      `${directory} keeps the state of the stack ${known.stack} in ${known.engine}, and this is ${own.stack} in ${own.engine}: choose another directory, or another --engine.`,
    );
  file.save(own);
}

export type KeptJson = {
  /** Returns undefined if nothing was saved. */
  readonly load: () => unknown;
  readonly save: (value: unknown) => void;
};

/** @param directory undefined: nothing is saved */
export function keptJson(directory: string | undefined, name: string): KeptJson {
  if (directory === undefined) return { load: () => undefined, save: () => undefined };
  const file = join(directory, `${name}.json`);
  return {
    load: () => {
      try {
        return JSON.parse(readFileSync(file, "utf8"));
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
        throw new Error(`${file} can't be read: start with another directory`, { cause: error });
      }
    },
    save: (value) => {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      // Renamed into place so that a killed process leaves no partial file.
      const draft = `${file}.draft`;
      writeFileSync(draft, JSON.stringify(value), { mode: 0o600 });
      renameSync(draft, file);
    },
  };
}
