import type { Command } from "commander";
import { invokeFunction } from "../../../adapters/aws/function-invoker.ts";
import { parseReconcileOutcome } from "../../../domain/reconcile/reconcile-outcome.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";

export function addTo(group: Command): void {
  addCommand(group, {
    name: "now",
    summary:
      "Compares the provider's list of users with the table now. Requests what is missing or different; only counts accounts that the provider no longer lists. The schedule continues an interrupted run.",
    examples: ["npx income-events reconcile now", "npx income-events reconcile now --json    for programs"],
    run: reconcileNow,
  });
}

export async function reconcileNow({ deployment, clients, terminal }: Operation): Promise<void> {
  const { stage } = deployment;
  const name = deployment.output("ReconcileFunctionName");
  for (;;) {
    const result = parseReconcileOutcome(await invokeFunction(clients.lambda, name, { now: true }));
    switch (result.outcome) {
      case "done":
        return terminal.result(
          { stage, ...result },
          `Compared ${result.listed} users of the provider with the table; missing or in conflict: ${result.drift}.`,
        );
      case "goes on":
        terminal.progress(`Compared ${result.listed} users so far.`);
        break;
      case "paused":
        throw CommandError.failed(
          `The run is paused: ${result.reason}. The schedule continues it. Follow it: npx income-events logs`,
        );
      default:
        throw CommandError.failed(
          "Another run is in progress, so this one did not start. Follow it: npx income-events logs",
        );
    }
  }
}
