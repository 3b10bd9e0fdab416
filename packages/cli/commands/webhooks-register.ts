import type { Command } from "commander";
import { addCommand, type Operation } from "../core/command.ts";
import { registerWebhooks } from "../provider/registration.ts";

type Flags = { readonly takeOver?: boolean };

export function addTo(program: Command): void {
  const group = program.command("webhooks").description("Registers the webhooks with the provider.");
  addCommand<Flags>(group, {
    name: "register",
    summary: "Registers the webhook addresses and secret with the provider. A schedule does the same daily.",
    asks: true,
    examples: [
      "npx income-events webhooks register",
      "npx income-events webhooks register --stage prod --outputs outputs.json --json",
      "npx income-events webhooks register --take-over    take them over from another stage",
    ],
    run: registerNow,
  }).option("--take-over", "take the registrations over from another stage");
}

export async function registerNow(
  { deployment, clients, terminal }: Operation,
  { takeOver = false }: Flags,
): Promise<void> {
  const { stage } = deployment;
  if (takeOver)
    await terminal.confirm(
      `The webhooks go to the stage ${stage} from now on, and no longer to the stage that has them.`,
    );
  const registered = await registerWebhooks(clients.lambda, deployment, { takeOver });
  const where = `The webhooks of ${registered.count} kinds of the stage ${stage} are registered`;
  terminal.result(
    { stage, ...registered },
    registered.secret === "current"
      ? `${where}.`
      : `${where} with the secret before its rotation; the new one can be in ${registered.readyInSeconds} s.`,
  );
}
