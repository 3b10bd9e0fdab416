import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Fields,
  fieldsOf,
  isFields,
  numberOf,
  optionalText,
  parseJson,
  present,
  textOf,
} from "../../../domain/core/parse.ts";
import { type DeployedPipeline, stackPrefix } from "./pipelines.ts";
import { projectDirectory } from "./places.ts";

/** A pipeline that `npm start` runs. It announces itself in a file while it runs. */
export type RunningSystem = DeployedPipeline & {
  readonly region: string;
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly local: LocalPlace;
};

/** The local parts of a deployment. */
export type LocalPlace = {
  readonly pid: number;
  readonly directory?: string;
  readonly logs?: string;
  readonly sandbox?: { readonly baseUrl: string; readonly control?: string };
  /** All addresses, for people. */
  readonly details?: string;
  readonly ports: readonly number[];
};

/** Where `npm start` writes a file for each system. Tests set their own directory in the environment. */
export const runningSystemsDirectory =
  process.env.INCOME_EVENTS_RUNNING ?? join(projectDirectory, ".local/running");

/** The systems that run; a killed one leaves its file behind. */
export function findRunningSystems(directory: string): readonly RunningSystem[] {
  return filesIn(directory).flatMap((file) => {
    const fields = fieldsOf(parseJson(readFileSync(join(directory, file), "utf8"), file), file);
    const pid = numberOf(fields, "pid");
    if (!isAlive(pid)) return [];
    const credentials = fieldsOf(fields.credentials, "credentials");
    const stack = textOf(fields, "stack");
    const outputs = parseOutputs(fields.outputs, file);
    return [
      {
        stage: outputs.Stage ?? stack.replace(stackPrefix, ""),
        stack,
        id: optionalText(fields, "pipeline") ?? "",
        region: textOf(fields, "region"),
        endpoint: textOf(fields, "endpoint"),
        credentials: {
          accessKeyId: textOf(credentials, "accessKeyId"),
          secretAccessKey: textOf(credentials, "secretAccessKey"),
        },
        outputs,
        local: placeOf(fields, pid),
      },
    ];
  });
}

function placeOf(fields: Fields, pid: number): LocalPlace {
  const sandbox = isFields(fields.sandbox)
    ? present<NonNullable<LocalPlace["sandbox"]>>({
        baseUrl: textOf(fields.sandbox, "baseUrl"),
        control: optionalText(fields.sandbox, "control"),
      })
    : undefined;
  const addresses = [fields.endpoint, fields.apiUrl, sandbox?.baseUrl, sandbox?.control];
  return present<LocalPlace>({
    pid,
    directory: optionalText(fields, "directory"),
    logs: optionalText(fields, "logs"),
    details: optionalText(fields, "details"),
    sandbox,
    ports: addresses.flatMap((address) => {
      const port = typeof address === "string" ? Number(URL.parse(address)?.port) : 0;
      return port > 0 ? [port] : [];
    }),
  });
}

/** A stack's outputs. @throws permanent failure naming an output that is not a string */
export function parseOutputs(value: unknown, what: string): Readonly<Record<string, string>> {
  const outputs = fieldsOf(value, what);
  return Object.fromEntries(Object.keys(outputs).map((name) => [name, textOf(outputs, name)]));
}

function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(".json"));
  } catch {
    // Nothing was ever started on this machine.
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
