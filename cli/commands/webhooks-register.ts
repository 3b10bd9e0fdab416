import type { Command } from "commander";
import { addCommand, type Operation } from "../command.ts";
import { registerWebhooks } from "../registration.ts";

export function addWebhooksRegister(group: Command): void {
  addCommand(
    group,
    {
      name: "register",
      summary:
        "Tells the provider where the webhooks of all kinds go, and what they must carry. Done daily anyway.",
      examples: [
        "npx income-events webhooks register",
        "npx income-events webhooks register --stage prod --outputs outputs.json --json",
      ],
    },
    register,
  );
}

async function register({ deployment, terminal }: Operation): Promise<void> {
  const registered = await registerWebhooks(deployment);
  const { stage } = deployment;
  const where = `The webhooks of ${registered.count} kinds of the stage ${stage} are registered`;
  terminal.result(
    { stage, ...registered },
    registered.secret === "current"
      ? `${where}.`
      : `${where} with the secret before its rotation; the new one can be in ${registered.settlesInSeconds} s.`,
  );
}
