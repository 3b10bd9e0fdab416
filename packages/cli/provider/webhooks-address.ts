import { parseSecretHeader, type SecretHeader } from "../../../domain/core/webhook-secret.ts";
import { CommandError } from "../core/command-error.ts";
import type { Deployment } from "../core/deployment.ts";
import { hasOwnEndpoint, isOwnAddress, placeOfArn } from "../core/own-addresses.ts";
import { readStageSettings } from "../core/stage-settings.ts";

/** The header that carries a stage's webhook secret. */
export function secretHeaderOf({ output, optionalOutput }: Deployment): SecretHeader {
  return parseSecretHeader({
    secretHeader: output("WebhookSecretHeader"),
    secretScheme: optionalOutput("WebhookSecretScheme"),
  });
}

/**
 * Where a stage's webhooks are sent to. The secret goes with each, so it is API Gateway's own address in the stage's
 * region, or the name that the stage's settings give it; else whatever an endpoint that was set explicitly answers for.
 * @throws CommandError where the outputs lead elsewhere
 */
export function webhooksAddress({ stage, client, output }: Deployment): string {
  const address = output("WebhooksUrl");
  if (client.endpoint !== undefined || hasOwnEndpoint(process.env)) return address;
  const place = placeOfArn(output("TokenSecretArn"));
  if (place !== undefined && isOwnAddress(address, "execute-api", place)) return address;
  const url = URL.parse(address);
  const { customDomain } = readStageSettings(stage).webhooks;
  if (url?.protocol === "https:" && customDomain !== undefined && url.host === customDomain.name)
    return address;
  throw CommandError.usage(
    "The outputs lead elsewhere: WebhooksUrl is neither API Gateway's own address in the stage's region nor the name in " +
      `webhooks.customDomain of the stage ${stage}. The webhooks' secret is not sent there.`,
  );
}
