import type { Command } from "commander";
import type { Registration } from "../../../domain/reconcile/registrations.ts";
import { addCommand } from "../core/command.ts";
import { tableText } from "../core/table.ts";
import { listRegistrations } from "../status/registration-status.ts";

export function addWebhooksList(group: Command): void {
  addCommand(
    group,
    {
      name: "list",
      summary: "Asks the provider where the webhooks of each kind go; changes nothing.",
      examples: [
        "npx income-events webhooks list",
        "npx income-events webhooks list --stage prod --outputs outputs.json",
      ],
    },
    async ({ deployment, clients, terminal }) => {
      const webhooks = await listRegistrations(deployment, clients);
      const rows = webhooks.map((webhook) => [webhook.kind, ...whereOf(webhook)]);
      terminal.result(
        { stage: deployment.stage, webhooks },
        tableText(["kind", "registered", "address"], rows),
      );
    },
  );
}

function whereOf(webhook: Registration): readonly string[] {
  switch (webhook.is) {
    case "here":
      return ["here", webhook.deployed];
    case "elsewhere":
      return ["elsewhere", webhook.url];
    case "none":
      return ["no", `should be ${webhook.deployed}`];
    case "untold":
      return ["unknown", webhook.reason];
  }
}
