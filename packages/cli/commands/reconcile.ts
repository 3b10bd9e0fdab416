import type { Command } from "commander";
import { invokeFunction } from "../../../adapters/aws/client.ts";
import { parseReconcileOutcome } from "../../../domain/reconcile/reconcile-outcome.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { counted } from "../core/text.ts";

export function addTo(program: Command): void {
  const group = program.command("reconcile").description("Compares the table with the provider's lists.");
  addCommand(group, {
    name: "now",
    summary:
      "Compares the provider's list of users with the table now. Requests what is missing or different; only counts accounts that the provider no longer lists. The schedule continues an interrupted run.",
    examples: ["npx income-events reconcile now", "npx income-events reconcile now --json    for programs"],
    run: reconcileNow,
  });
  addCommand(group, {
    name: "accept-deletions",
    summary:
      "Allows reconciliation to delete more accounts than reconcile.maxDeletions. It checks each account at the provider again, hours later, before it deletes.",
    examples: ["npx income-events reconcile accept-deletions"],
    run: async (operation) => {
      const { accepted } = await audited(
        operation,
        { act: "reconcile", target: "deletions" },
        async () => {
          const outcome = await invoke(operation, { acceptDeletions: true });
          if (outcome.outcome === "accepted") return outcome;
          throw nothing("accepted");
        },
        (result) => result.accepted,
      );
      const { deployment, terminal } = operation;
      terminal.result(
        { stage: deployment.stage, accepted },
        accepted === 0
          ? "No deletion waits to be accepted."
          : `Accepted ${counted(accepted, "deletion")}. Each is checked at the provider again before it takes effect.`,
      );
    },
  });
  addCommand<{ readonly all?: true }>(group, {
    name: "undelete [ids...]",
    summary:
      "Restores accounts that reconciliation deleted. Subscribers get account.restored; the accounts' states are fetched again.",
    examples: [
      "npx income-events reconcile undelete 9c858901-8a57-4791-81fe-4c455b099bc9",
      "npx income-events reconcile undelete --all    all deletions of the last 30 days",
    ],
    run: undelete,
  }).option("--all", "all accounts that reconciliation deleted in the last 30 days");
}

export async function reconcileNow(operation: Operation): Promise<void> {
  const { deployment, terminal } = operation;
  const { stage } = deployment;
  for (;;) {
    const result = await invoke(operation, { now: true });
    switch (result.outcome) {
      case "done":
        return terminal.result(
          { stage, ...result },
          `Compared ${counted(result.listed, "user")} of the provider with the table; missing or in conflict: ${result.drift}.`,
        );
      case "goes on":
        terminal.step(`Compared ${result.listed} users so far.`);
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

async function undelete(
  operation: Operation,
  { all = false }: { readonly all?: boolean },
  ...ids: readonly string[]
): Promise<void> {
  if (all === ids.length > 0) throw CommandError.usage("Name accounts by their ids, or give --all.");
  const { restored, others, underWay } = await audited(
    operation,
    { act: "reconcile", target: "undelete" },
    async () => {
      const outcome = await invoke(operation, { restore: all ? "all" : ids });
      if (outcome.outcome === "restored") return outcome;
      throw nothing("restored");
    },
    (result) => result.restored,
  );
  const { deployment, terminal } = operation;
  if (!all && restored === 0 && underWay.length === 0)
    throw new CommandError(
      "nobody",
      "Reconciliation deleted none of these accounts, or a webhook did as well. See why: npx income-events records show account ID",
    );
  const unchanged =
    others.length === 0 ? "" : ` Not deleted by reconciliation alone, and unchanged: ${others.join(", ")}.`;
  const later =
    underWay.length === 0
      ? ""
      : ` Reported as deleted, but not deleted yet: ${underWay.join(", ")}. Run the command again in a few minutes.`;
  terminal.result(
    { stage: deployment.stage, restored, others, underWay },
    `Restored ${counted(restored, "account")}.${unchanged}${later}`,
  );
}

function nothing(done: string): CommandError {
  return CommandError.failed(`Nothing was ${done}. See why: npx income-events status --section provider`);
}

async function invoke({ deployment, clients }: Operation, event: object) {
  const name = deployment.output("ReconcileFunctionName");
  return parseReconcileOutcome(await invokeFunction(clients.lambda, name, event));
}
