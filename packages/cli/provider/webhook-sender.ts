import { webhookSecretStore } from "../../../adapters/secrets/webhook-secret.ts";
import {
  headerWith,
  parseSecretHeader,
  type SecretHeader,
  signatureHeader,
  signatureOf,
  valueOfKind,
  type WebhookSecret,
} from "../../../domain/core/webhook-secret.ts";
import type { WebhookKind } from "../../../domain/event/events.ts";
import type { Place } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import type { Deployment } from "../core/deployment.ts";
import { hasOwnEndpoint, isOwnAddress, placeOfArn } from "../core/own-addresses.ts";
import { readStageSettings } from "../core/stage-settings.ts";

export type Webhook = {
  readonly kind: WebhookKind;
  readonly method: "POST" | "PUT" | "GET" | "DELETE";
  /** Which secret to send; `none` sends none, as a stranger would. */
  readonly authentication: "right" | "wrong" | "none";
  readonly body?: string;
};

export type WebhookTarget = {
  readonly webhooksUrl: string;
  readonly secretHeader: SecretHeader;
  readonly secret: WebhookSecret;
};

/** The answer's status, or why there was no answer. */
export type Answer = number | string;

/** Longer than API Gateway's own time-out. */
const answerTimeoutInMs = 35_000;

export async function sendWebhook(target: WebhookTarget, webhook: Webhook): Promise<Answer> {
  const { kind, method, body } = webhook;
  try {
    const response = await fetch(`${target.webhooksUrl}/${kind}`, {
      method,
      headers: headersOf(target, webhook),
      ...(body !== undefined && { body }),
      redirect: "manual",
      signal: AbortSignal.timeout(answerTimeoutInMs),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    return noAnswer(error);
  }
}

/** The reason for no answer, from the error's cause if it has one. */
export function noAnswer(error: unknown): string {
  if (!(error instanceof Error)) return `no answer (${String(error)})`;
  const { cause, message } = error;
  return `no answer (${cause instanceof Error && cause.message !== "" ? cause.message : message})`;
}

function headersOf(
  { secretHeader, secret: { current, signing } }: WebhookTarget,
  { kind, authentication, body = "" }: Webhook,
): Record<string, string> {
  const headers = { "content-type": "application/json" };
  switch (authentication) {
    case "none":
      return headers;
    case "wrong":
      return { ...headers, ...headerWith(secretHeader, "a-wrong-secret") };
    case "right":
      return {
        ...headers,
        ...(signing !== undefined && { [signatureHeader]: signatureOf(body, signing) }),
        ...headerWith(secretHeader, valueOfKind(current, kind)),
      };
  }
}

/** Where and with which secret a stage takes webhooks. @throws CommandError if it has no secret */
export async function webhookTarget({ deployment, clients }: Place): Promise<WebhookTarget> {
  const { stage, output, optionalOutput } = deployment;
  const { secret } = await webhookSecretStore(clients.secretsManager, output("WebhookSecretArn")).read();
  if (secret === undefined)
    throw CommandError.noDeployment(
      `The webhook secret of the stage ${stage} is empty. Set one: npx income-events secret rotate`,
    );
  const header = {
    secretHeader: output("WebhookSecretHeader"),
    secretScheme: optionalOutput("WebhookSecretScheme"),
  };
  return { webhooksUrl: webhooksAddress(deployment), secretHeader: parseSecretHeader(header), secret };
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
