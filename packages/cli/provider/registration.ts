import type { LambdaClient } from "@aws-sdk/client-lambda";
import { invokeFunction } from "../../../adapters/aws/client.ts";
import { FailureError, permanent } from "../../../domain/core/failures.ts";
import { fieldsOf, numberOf, textOf } from "../../../domain/core/parse.ts";
import { parseRegistrations, type Registration } from "../../../domain/reconcile/registrations.ts";
import type { Place } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
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
  const answer = await invokeFunction(lambda, output("RegisterFunctionName"), { takeOver });
  const fields = fieldsOf(answer, "the registration");
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

export type RegistrationStatus =
  | { readonly webhooks: readonly Registration[] }
  /** The settings leave registration to another stage. */
  | { readonly isLeftToAnother: true }
  /** No answer: the provider is down, or there is no token. */
  | { readonly unknown: string };

/**
 * Asks the provider where it sends webhooks, through the stage's function with its permissions, token and
 * rate. An error is part of the result, because the rest of the status is still useful.
 */
export async function registrationStatus({
  deployment: { output, optionalOutput },
  clients: { lambda },
}: Place): Promise<RegistrationStatus> {
  if (optionalOutput("RegisterFunctionName") === undefined) return { isLeftToAnother: true };
  try {
    const answer = await invokeFunction(lambda, output("RegisterFunctionName"), { list: true });
    const { unknown } = fieldsOf(answer, "the list of webhooks");
    return typeof unknown === "string" ? { unknown } : { webhooks: parseRegistrations(answer) };
  } catch (error) {
    if (error instanceof FailureError) return { unknown: error.message };
    throw error;
  }
}

/**
 * The webhooks that the provider reports.
 * @throws CommandError with the reason if there is no answer
 */
export async function listRegistrations(place: Place): Promise<readonly Registration[]> {
  const status = await registrationStatus(place);
  if ("webhooks" in status) return status.webhooks;
  // Without the output, the stage has no registering function.
  if ("isLeftToAnother" in status)
    throw CommandError.noDeployment(
      `The stage ${place.deployment.stage} registers no webhooks: another one does (register.enabled).`,
    );
  throw CommandError.failed(
    `The webhook registrations are unknown: ${status.unknown}. Find the cause: npx income-events doctor`,
  );
}
