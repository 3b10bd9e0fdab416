import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** Whose state a directory keeps, and in which engine's form. */
export type Kept = { readonly stack: string; readonly engine: string };

const keptBy = z.object({ stack: z.string(), engine: z.string() });
const fileName = "kept";

/** Whether a directory holds the state of an earlier start. */
export function holdsState(directory: string): boolean {
  return keptJson(directory, fileName).load() !== undefined;
}

/** Marks a directory as a system's own. @throws where it is another's, or of another engine */
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

/** A value that is kept in a file from one start to the next. */
export type KeptJson = {
  /** Undefined where nothing was kept yet. */
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
