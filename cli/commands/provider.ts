import type { Command } from "commander";
import { addCommand } from "../core/command.ts";
import { providerStatus, providerText } from "../provider/provider-status.ts";

export function addProvider(program: Command): void {
  addCommand(
    program,
    {
      name: "provider",
      summary:
        "Shows how the provider is called: whether it answers, the breaker and its next probe, the calls of the last minute against the rate, the token's life.",
      examples: ["npx income-events provider", "npx income-events provider --json    for programs"],
    },
    async ({ deployment, clients, terminal }) => {
      const status = await providerStatus(deployment, clients, new Date());
      terminal.result(
        { stage: deployment.stage, ...status },
        providerText(deployment.stage, status, new Date()),
      );
    },
  );
}
