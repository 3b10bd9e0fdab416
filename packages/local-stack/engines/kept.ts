import { z } from "zod";
import { keptJson } from "./kept-json.ts";

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
