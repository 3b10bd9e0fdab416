import { readFileSync } from "node:fs";
import { join } from "node:path";
import { permanent } from "../../domain/core/failures.ts";
import { type Fields, fieldsOf } from "../../domain/core/parse.ts";

/** Minimum major version of Node.js, which is the stack's Lambda runtime. */
const leastNode = 24;

const { node } = process.versions;
if (Number.parseInt(node, 10) < leastNode) {
  throw new Error(`functions need Node ${leastNode} or later, and this is Node ${node}`);
}

/**
 * Reads an environment variable that the stack sets.
 * @throws at startup if it is missing: the deployment is wrong
 */
export function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`environment variable ${name} is not set`);
  return value;
}

/** Reads a variable with comma-separated names; the stack omits it if there are none. */
export function namesIn(name: string): readonly string[] {
  return process.env[name]?.split(",") ?? [];
}

/** Reads a variable with a JSON object; the stack omits it if it would be empty. */
export function fieldsIn(name: string): Fields {
  return fieldsOf(JSON.parse(process.env[name] ?? "{}"), name);
}

/** Reads the function's part of the stage's settings, which the stack puts next to the bundle. */
export function readSettings(directory: string = import.meta.dirname): Fields {
  const parsed: unknown = JSON.parse(readFileSync(join(directory, "settings.json"), "utf8"));
  return fieldsOf(parsed, "settings.json");
}

/** The URL of a queue in the same account and region: all URLs would not fit into an environment. */
export function queueBeside(url: string, name: string): string {
  return url.slice(0, url.lastIndexOf("/") + 1) + name;
}

/**
 * Pairs owners of queues with their queues, which the environment names in the same order.
 * @returns each owner with its queue's URL
 * @throws permanent failure if a name is missing
 */
export function queuesBeside(
  url: string,
  owners: readonly string[],
  names: readonly string[],
): readonly (readonly [string, string])[] {
  return owners.map((owner, index) => {
    const name = names[index];
    if (name === undefined) throw permanent(`the environment names no queue of ${owner}`);
    return [owner, queueBeside(url, name)];
  });
}
