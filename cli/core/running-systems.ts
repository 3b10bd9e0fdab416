import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf, numberOf, parseJson, textOf } from "../../domain/core/parse.ts";

/** A system that `npm start` keeps up, as it announces itself in a file while it runs. */
export type RunningSystem = {
  readonly stack: string;
  readonly region: string;
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly outputs: Readonly<Record<string, string>>;
};

/** Where `npm start` writes one file for each system. Tests name a directory of their own in the environment. */
export const runningSystemsDirectory =
  process.env.INCOME_EVENTS_RUNNING ?? join(import.meta.dirname, "../../.local/running");

/** Those that run: one that was killed could not take its file away. */
export function findRunningSystems(directory: string): readonly RunningSystem[] {
  return filesIn(directory).flatMap((file) => {
    const fields = fieldsOf(parseJson(readFileSync(join(directory, file), "utf8"), file), file);
    if (!isAlive(numberOf(fields, "pid"))) return [];
    const credentials = fieldsOf(fields.credentials, "credentials");
    return [
      {
        stack: textOf(fields, "stack"),
        region: textOf(fields, "region"),
        endpoint: textOf(fields, "endpoint"),
        credentials: {
          accessKeyId: textOf(credentials, "accessKeyId"),
          secretAccessKey: textOf(credentials, "secretAccessKey"),
        },
        outputs: parseOutputs(fields.outputs, file),
      },
    ];
  });
}

/** A stack's outputs. @throws permanent failure naming what is no text */
export function parseOutputs(value: unknown, what: string): Readonly<Record<string, string>> {
  const outputs = fieldsOf(value, what);
  return Object.fromEntries(Object.keys(outputs).map((name) => [name, textOf(outputs, name)]));
}

function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(".json"));
  } catch {
    // Nothing was ever started here.
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
