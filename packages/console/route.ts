import type { Operation } from "@income-events/cli/core/command.ts";
import { CommandError } from "@income-events/cli/core/command-error.ts";
import type { DeploymentOptions } from "@income-events/cli/core/deployment.ts";
import { type Fields, isFields } from "../../domain/core/parse.ts";

export type ConsoleContext = {
  readonly operation: Operation;
  /** The options that selected the deployment; remedies repeat them. */
  readonly options: DeploymentOptions;
  /** A settings file to compare with, instead of the stage's own. */
  readonly settings?: string;
  /** Whether changes are allowed (`--write`). */
  readonly isWritable: boolean;
  readonly now: () => Date;
};

export type Asked = {
  readonly params: URLSearchParams;
  readonly body: Fields;
};

export type Route = {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Whether it changes the stage and needs `--write`. A read that is audited does not. */
  readonly changes?: true;
  readonly answer: (context: ConsoleContext, asked: Asked) => Promise<object>;
};

type Answer = Route["answer"];

export function read(path: string, answer: Answer): Route {
  return { method: "GET", path, answer };
}

/**
 * A request with a body that changes nothing, except that the audit trail records a look at personal data.
 */
export function look(path: string, answer: Answer): Route {
  return { method: "POST", path, answer };
}

export function change(path: string, answer: Answer): Route {
  return { method: "POST", path, changes: true, answer };
}

/** @throws CommandError if it is missing or not a string */
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

/** A JSON body; empty if there is none. @throws CommandError if it is not an object */
export function parseBody(text: string): Fields {
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch {
    // The error is thrown below.
  }
  throw CommandError.usage("The body is not a JSON object.");
}

/** @throws CommandError unless the expected confirmation was typed */
export function checkTyped(asked: Asked, expected: string): void {
  if (asked.body.typed === expected) return;
  throw CommandError.usage(`Type ${expected} to confirm. Nothing was done.`);
}
