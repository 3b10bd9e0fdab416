import type { LambdaClient } from "@aws-sdk/client-lambda";
import { invokeFunction } from "../../../adapters/aws/function-invoker.ts";
import { permanent } from "../../../domain/core/failures.ts";
import { fieldsOf, numberOf, textOf } from "../../../domain/core/parse.ts";
import type { Deployment } from "../core/deployment.ts";

/** The result of a registration; `readyInSeconds` if the new secret can't be registered yet. */
export type Registered =
  | { readonly count: number; readonly secret: "current" }
  | { readonly count: number; readonly secret: "previous"; readonly readyInSeconds: number };

/**
 * Registers the webhooks at the provider, through the stage's function with its permissions.
 * @param takeOver replaces registrations of another stage, too
 */
export async function registerWebhooks(
  lambda: LambdaClient,
  { output }: Deployment,
  { takeOver = false } = {},
): Promise<Registered> {
  return parseRegistered(await invokeFunction(lambda, output("RegisterFunctionName"), { takeOver }));
}

function parseRegistered(value: unknown): Registered {
  const fields = fieldsOf(value, "the registration");
  const count = Array.isArray(fields.registered) ? fields.registered.length : 0;
  const secret = textOf(fields, "secret");
  switch (secret) {
    case "current":
      return { count, secret };
    case "previous":
      return { count, secret, readyInSeconds: numberOf(fields, "readyInSeconds") };
    default:
      throw permanent(`the registration named an unknown secret: ${secret}`);
  }
}
