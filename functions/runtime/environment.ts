import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Fields, fieldsOf } from "../../domain/core/parse.ts";

/** The stack's runtime; functions use what came with it. */
const leastNode = 24;

const { node } = process.versions;
if (Number.parseInt(node, 10) < leastNode) {
  throw new Error(`functions need Node ${leastNode} or later, and this is Node ${node}`);
}

/** Reads a variable that the stack sets. Throws at start where it is missing: the deployment is wrong then. */
export function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`environment variable ${name} is not set`);
  return value;
}

/** Reads a variable with names, which the stack leaves out where there are none. */
export function namesIn(name: string): readonly string[] {
  return process.env[name]?.split(",") ?? [];
}

/** Reads a variable with a JSON object, which the stack leaves out where it would be empty. */
export function fieldsIn(name: string): Fields {
  return fieldsOf(JSON.parse(process.env[name] ?? "{}"), name);
}

/** The slice of the stage's settings that the stack put beside this function's bundle. */
export function readSettings(directory: string = import.meta.dirname): Fields {
  const parsed: unknown = JSON.parse(readFileSync(join(directory, "settings.json"), "utf8"));
  return fieldsOf(parsed, "settings.json");
}
