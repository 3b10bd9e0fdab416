import { readFileSync } from "node:fs";
import { transformSync } from "esbuild";

const known = new Map<string, string>();

/**
 * A module's source without its types. A process that takes them off itself holds 17 MB more for it and starts later,
 * which would count as its function's own.
 */
export function stripped(file: string): string {
  const kept = known.get(file);
  if (kept !== undefined) return kept;
  const { code } = transformSync(readFileSync(file, "utf8"), {
    loader: "ts",
    format: "esm",
    target: "node24",
  });
  known.set(file, code);
  return code;
}
