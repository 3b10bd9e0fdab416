import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf, parseJson, textOf } from "../../../domain/core/parse.ts";
import { packageDirectory } from "./places.ts";

/** Of the package: what a report of a fault names. */
export function packageVersion(): string {
  const file = join(packageDirectory, "package.json");
  return textOf(fieldsOf(parseJson(readFileSync(file, "utf8"), file), file), "version");
}
