import { invokeFunction } from "../../adapters/aws/function-invoker.ts";
import { FailureError } from "../../domain/core/failures.ts";
import { parseRegistrations, type Registration } from "../../domain/reconcile/registrations.ts";
import type { Clients } from "../core/clients.ts";
import type { Deployment } from "../core/deployment.ts";

/** What the provider says of the stage's webhooks. */
export type RegistrationStatus =
  | { readonly webhooks: readonly Registration[] }
  /** Another stage registers, by the settings. */
  | { readonly isLeftToAnother: true }
  /** The provider could not be asked: it is down, or there is no token. */
  | { readonly unknown: string };

/**
 * Lists the webhooks: the stage's own function asks the provider, with its own permissions, token and rate.
 * @throws permanent failure with the function's reason
 */
export async function listRegistrations(
  { output }: Pick<Deployment, "output">,
  { lambda }: Pick<Clients, "lambda">,
): Promise<readonly Registration[]> {
  return parseRegistrations(await invokeFunction(lambda, output("RegisterFunctionName"), { list: true }));
}

/** As `listRegistrations`; what the provider can't tell is reported, for the rest of a status is of use then. */
export async function registrationStatus(
  deployment: Pick<Deployment, "output" | "optionalOutput">,
  clients: Pick<Clients, "lambda">,
): Promise<RegistrationStatus> {
  if (deployment.optionalOutput("RegisterFunctionName") === undefined) return { isLeftToAnother: true };
  try {
    return { webhooks: await listRegistrations(deployment, clients) };
  } catch (error) {
    if (error instanceof FailureError) return { unknown: error.message };
    throw error;
  }
}
