import type { Command } from "commander";
import { webhookSecretStore } from "../../adapters/secrets/webhook-secret.ts";
import { fieldsOf, numberOf, parseJson } from "../../domain/core/parse.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { registerWebhooks } from "../provider/registration.ts";
import { type RotationPorts, revokeSecret, rotateSecret } from "../provider/rotation.ts";

type Flags = { readonly revokeNow?: boolean };

export function addSecretRotate(group: Command): void {
  addCommand<Flags>(
    group,
    {
      name: "rotate",
      summary:
        "Gives the webhooks a new secret. The old one stays accepted while the provider may try deliveries again.",
      asks: true,
      examples: [
        "npx income-events secret rotate",
        "npx income-events secret rotate --revoke-now    the old one has leaked: refuse it at once",
      ],
    },
    rotate,
  ).option("--revoke-now", "accept the old secret no longer; deliveries that carry it are refused");
}

async function rotate(
  { deployment, clients, terminal }: Operation,
  { revokeNow = false }: Flags,
): Promise<void> {
  const { stage } = deployment;
  const ports: RotationPorts = {
    store: webhookSecretStore(clients.secretsManager, deployment.output("WebhookSecretArn")),
    register: () => registerWebhooks(clients.lambda, deployment),
    times: parseTimes(deployment.output("WebhookSecretRotation")),
    now: () => new Date(),
    terminal,
  };
  if (revokeNow) {
    await terminal.confirm(consequences(stage));
    await revokeSecret(ports);
    terminal.result(
      { stage, done: "revoked" },
      `The stage ${stage} has a new secret. The old one is revoked.`,
    );
    return;
  }
  const { done, previousUntil } = await rotateSecret(ports);
  const subject = done === "rotated" ? "has a new secret" : "has the secret of the rotation before";
  terminal.result(
    { stage, done, ...(previousUntil && { previousUntil }) },
    `The stage ${stage} ${subject}, and the webhooks are registered with it.` +
      (previousUntil === undefined ? "" : ` The old one is accepted until ${previousUntil}.`) +
      (done === "rotated" ? "" : " To replace the secret before that, add --revoke-now."),
  );
}

function parseTimes(output: string): RotationPorts["times"] {
  const fields = fieldsOf(parseJson(output, "WebhookSecretRotation"), "WebhookSecretRotation");
  return {
    propagationSeconds: numberOf(fields, "propagationSeconds"),
    overlapSeconds: numberOf(fields, "overlapSeconds"),
  };
}

function consequences(stage: string): string {
  return (
    `This revokes the webhook secret of the stage ${stage}. Deliveries that carry it are refused as soon as the\n` +
    "receivers read the secret again, and so are the provider's retries of them: the reconciliation finds what was\n" +
    "missed. For the same short while some receivers refuse the new value; the provider tries those again."
  );
}
