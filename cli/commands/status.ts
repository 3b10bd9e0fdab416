import type { Command } from "commander";
import { addCommand } from "../core/command.ts";
import { stageStatus } from "../status/stage-status.ts";
import { statusText } from "../status/status-text.ts";

export function addStatus(program: Command): void {
  addCommand(
    program,
    {
      name: "status",
      summary: "Shows the stage on one screen: queues, last events, token, webhooks at the provider, alarms.",
      examples: [
        "npx income-events status",
        "npx income-events status --stage prod --outputs outputs.json",
        "npx income-events status --json    for programs",
      ],
    },
    async ({ deployment, clients, terminal }) => {
      const status = await stageStatus(deployment, clients, () => new Date());
      terminal.result(status, statusText(status));
    },
  );
}
