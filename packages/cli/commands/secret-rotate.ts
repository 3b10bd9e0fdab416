import type { Command } from "commander";
import { webhookSecretStore } from "../../../adapters/secrets/webhook-secret.ts";
import { fieldsOf, numberOf, parseJson } from "../../../domain/core/parse.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { registerWebhooks } from "../provider/registration.ts";
import {
  type RotationPorts,
  registerNewValue,
  removeSigning,
  revokeSecret,
  rotateSecret,
  rotateSigning,
} from "../provider/rotation.ts";

type Flags = { readonly [Name in "revokeNow" | "signing" | "removeSigning"]?: boolean };

/** Longer than any signing key; a larger file is a mistake. */
const maxKeyBytes = 4_096;

export function addTo(program: Command): void {
  const group = program.command("secret").description("Rotates the webhook secret.");
  addCommand<Flags>(group, {
    name: "rotate",
    summary:
      "Rotates the webhook secret. Deliveries with the old secret are accepted while the provider may retry them.",
    asks: true,
    examples: [
      "npx income-events secret rotate",
      "npx income-events secret rotate --revoke-now    the old secret has leaked",
      "npx income-events secret rotate --signing < key.txt    the provider signs with this key",
      "npx income-events secret rotate --remove-signing    bodies are no longer signed",
    ],
    run: rotate,
  })
    .option("--revoke-now", "refuse deliveries with the old secret from now on")
    .option("--signing", "set and register the key that the provider signs bodies with, from standard input")
    .option("--remove-signing", "accept bodies without a signature, and register the webhooks without a key");
}

async function rotate(operation: Operation, flags: Flags): Promise<void> {
  const { revokeNow = false, signing = false, removeSigning: removes = false } = flags;
  const { deployment, clients, terminal } = operation;
  const { stage } = deployment;
  if ([revokeNow, signing, removes].filter(Boolean).length > 1)
    throw CommandError.usage("--signing, --remove-signing and --revoke-now exclude each other: give one.");
  const ports: RotationPorts = {
    store: webhookSecretStore(clients.secretsManager, deployment.output("WebhookSecretArn")),
    register: () => registerWebhooks(clients.lambda, deployment),
    times: parseTimes(deployment.output("WebhookSecretRotation")),
    now: () => new Date(),
    terminal,
  };
  const run = <T>(target: string, work: () => Promise<T>) =>
    audited(operation, { act: "secret", target }, work, 1);
  if (signing || removes)
    return run("signing", () => (removes ? endSigning(ports, operation) : setSigning(ports, operation)));
  if (revokeNow) {
    await terminal.confirm(
      `This revokes the webhook secret of the stage ${stage}. Deliveries that carry it are refused as soon as the\n` +
        "receivers read the secret again, and so are the provider's retries of them: the reconciliation finds what was\n" +
        "missed. For the same short while some receivers refuse the new value; the provider tries those again.",
    );
    await run("revoke", () => revokeSecret(ports));
    const text = `The stage ${stage} has a new secret. The old one is revoked.`;
    return terminal.result({ stage, done: "revoked" }, text);
  }
  const { done, previousUntil } = await run("rotate", () => rotateSecret(ports));
  const subject = done === "rotated" ? "has a new secret" : "has the secret of the rotation before";
  terminal.result(
    { stage, done, ...(previousUntil && { previousUntil }) },
    `The stage ${stage} ${subject}, and the webhooks are registered with it.` +
      (previousUntil === undefined ? "" : ` The old one is accepted until ${previousUntil}.`) +
      (done === "rotated" ? "" : " To replace the secret before that, add --revoke-now."),
  );
}

async function setSigning(ports: RotationPorts, { deployment, terminal }: Operation): Promise<void> {
  const { stage } = deployment;
  const key = (await terminal.readInput(maxKeyBytes)).trim();
  if (key === "" || /\s/.test(key))
    throw CommandError.usage(
      "Write the signing key alone, on one line: npx income-events secret rotate --signing < key.txt",
    );
  const previousUntil = await rotateSigning(key, ports);
  terminal.progress("The key is stored. It is registered after all receivers have loaded it.");
  await registerNewValue(ports, `until webhooks register has run, the provider does not sign with it`);
  terminal.result(
    { stage, done: "signing", ...(previousUntil && { previousUntil }) },
    `The stage ${stage} accepts bodies that are signed with this key.` +
      (previousUntil === undefined
        ? ""
        : ` Those signed with the one before are taken until ${previousUntil}.`),
  );
}

async function endSigning(ports: RotationPorts, { deployment, terminal }: Operation): Promise<void> {
  const { stage } = deployment;
  const was = await removeSigning(ports);
  await registerNewValue(ports, "until webhooks register has run, the provider keeps signing");
  terminal.result(
    { stage, done: was ? "signing removed" : "unsigned" },
    was
      ? `The stage ${stage} accepts bodies without a signature, and the webhooks are registered without a key.`
      : `The stage ${stage} has no signing key. The webhooks are registered without one.`,
  );
}

function parseTimes(output: string): RotationPorts["times"] {
  const fields = fieldsOf(parseJson(output, "WebhookSecretRotation"), "WebhookSecretRotation");
  return {
    propagationSeconds: numberOf(fields, "propagationSeconds"),
    overlapSeconds: numberOf(fields, "overlapSeconds"),
  };
}
