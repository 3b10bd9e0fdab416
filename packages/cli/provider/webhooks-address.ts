import { parseSecretHeader, type SecretHeader } from "../../../domain/core/webhook-secret.ts";
import { CommandError } from "../core/command-error.ts";
import type { Deployment } from "../core/deployment.ts";
import { hasOwnEndpoint, isOwnAddress, placeOfArn } from "../core/own-addresses.ts";
import { readStageSettings } from "../core/stage-settings.ts";

export function secretHeaderOf({ output, optionalOutput }: Deployment): SecretHeader {
  return parseSecretHeader({
    secretHeader: output("WebhookSecretHeader"),
    secretScheme: optionalOutput("WebhookSecretScheme"),
  });
}

/**
 * The address of a stage's webhooks. Because requests carry the secret, it must be API Gateway's in the
 * stage's region or the custom domain of the stage's settings, unless the environment sets an endpoint for
 * AWS.
 * @throws CommandError if the outputs name another address
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
