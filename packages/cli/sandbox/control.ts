import { fieldsOf, isFields, parseJson } from "../../../domain/core/parse.ts";
import { CommandError } from "../core/command-error.ts";
import type { Deployment } from "../core/deployment.ts";

/** Calls the sandbox's control address. @returns its answer @throws CommandError with what it says */
export type Control = (
  method: "POST" | "DELETE",
  path: string,
  body?: object,
) => Promise<Readonly<Record<string, unknown>>>;

const timeoutInMs = 30_000;

/** The control address of the provider of a system on this machine. @throws CommandError where there is none */
export function sandboxControl({ stage, local }: Pick<Deployment, "stage" | "local">): Control {
  const address = local?.sandbox?.control;
  if (address === undefined) {
    throw new CommandError(
      "noDeployment",
      `The stage ${stage} has no sandbox that can be told to fail: its provider is real. npm start brings one.`,
    );
  }
  return async (method, path, body) => {
    const response = await fetch(`${address}${path}`, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
      signal: AbortSignal.timeout(timeoutInMs),
    });
    const answer = parseJson(await response.text(), "the sandbox's answer");
    if (!response.ok) throw new CommandError("usage", `The sandbox refuses this: ${reasonOf(answer)}.`);
    return fieldsOf(answer, "the sandbox's answer");
  };
}

function reasonOf(answer: unknown): string {
  const error = isFields(answer) ? answer.error : undefined;
  const message = isFields(error) ? error.message : isFields(answer) ? answer.message : undefined;
  return typeof message === "string" ? message : "no reason is given";
}
