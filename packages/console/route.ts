import type { Operation } from "@income-events/cli/core/command.ts";
import { CommandError } from "@income-events/cli/core/command-error.ts";
import type { DeploymentOptions } from "@income-events/cli/core/deployment.ts";
import { type Fields, isFields } from "../../domain/core/parse.ts";

/** The context of the console's routes. */
export type ConsoleContext = {
  readonly operation: Operation;
  /** Those that named the deployment: what a remedy repeats. */
  readonly options: DeploymentOptions;
  /** A file of settings to compare with, in the place of the stage's own. */
  readonly settings?: string;
  /** Whether anything may be changed (`--write`). */
  readonly isWritable: boolean;
  readonly now: () => Date;
};

export type Asked = {
  readonly params: URLSearchParams;
  /** The body of a request that changes something. */
  readonly body: Fields;
};

/** One address below `/api/`. */
export type Route = {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Whether it changes something of the stage: it then needs `--write`. A look that is logged does not. */
  readonly changes?: true;
  readonly answer: (context: ConsoleContext, asked: Asked) => Promise<object>;
};

type Answer = Route["answer"];

export function read(path: string, answer: Answer): Route {
  return { method: "GET", path, answer };
}

/** Is sent something and changes nothing but the audit trail, if it shows personal data. */
export function look(path: string, answer: Answer): Route {
  return { method: "POST", path, answer };
}

export function change(path: string, answer: Answer): Route {
  return { method: "POST", path, changes: true, answer };
}

/** @throws CommandError where it is missing or no text */
export function textIn({ body }: Asked, name: string): string {
  const value = body[name];
  if (typeof value === "string" && value !== "") return value;
  throw CommandError.usage(`${name} is missing.`);
}

export function optionalTextIn({ body }: Asked, name: string): string | undefined {
  const value = body[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function param({ params }: Asked, name: string): string | undefined {
  const value = params.get(name);
  return value === null || value === "" ? undefined : value;
}

/** A body of JSON; empty where there is none. @throws CommandError where it is no object */
export function parseBody(text: string): Fields {
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch {
    // Said below.
  }
  throw CommandError.usage("The body is not a JSON object.");
}

/** @throws CommandError unless the person has typed what is about to be destroyed */
export function checkTyped(asked: Asked, expected: string): void {
  if (asked.body.typed === expected) return;
  throw CommandError.usage(`Type ${expected} to confirm. Nothing was done.`);
}
