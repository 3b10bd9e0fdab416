import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A value that is kept in a file from one start to the next. */
export type KeptJson = {
  /** Undefined where nothing was kept yet. */
  readonly load: () => unknown;
  readonly save: (value: unknown) => void;
};

/** @param directory undefined: nothing is kept */
export function keptJson(directory: string | undefined, name: string): KeptJson {
  if (directory === undefined) return { load: () => undefined, save: () => undefined };
  const file = join(directory, `${name}.json`);
  return {
    load: () => {
      try {
        return JSON.parse(readFileSync(file, "utf8"));
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
        throw new Error(`${file} can't be read: begin anew with another directory`, { cause: error });
      }
    },
    save: (value) => {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      // Renamed into place, so that a process that is killed leaves no half of it.
      const draft = `${file}.draft`;
      writeFileSync(draft, JSON.stringify(value), { mode: 0o600 });
      renameSync(draft, file);
    },
  };
}
