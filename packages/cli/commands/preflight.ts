import type { Command } from "commander";
import { createClients } from "../core/clients.ts";
import { addOfflineCommand } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { addStageFlags, readStageSettings, type StageFlags } from "../core/stage-settings.ts";
import { findingsText, openAccount } from "../preflight/account.ts";
import { examinePreflight, type Preflight } from "../preflight/examine.ts";

export function addTo(program: Command): void {
  addStageFlags(
    addOfflineCommand<StageFlags>(program, {
      name: "preflight",
      summary:
        "Checks the account and region before a deployment: quotas, permissions, names. Exits 1 if the deployment would fail or lose data.",
      examples: [
        "npx income-events preflight --stage prod",
        "npx income-events preflight --settings my-settings.json --json    for programs",
      ],
      run: async (terminal, { stage, settings: file }) => {
        const settings = readStageSettings(stage, file);
        using clients = createClients({ client: {} });
        const account = await openAccount(clients);
        const { id, region } = account;
        const plan = { stage, stackName: `income-events-${stage}`, settings, account };
        const result = await examinePreflight(plan);
        const text = textOf(`${stage} in ${id}, ${region}`, result);
        terminal.result({ stage, account: id, region, ...result }, text);
        const { length } = result.findings;
        if (length === 0) return;
        const count = length === 1 ? "One thing" : `${length} things`;
        throw CommandError.failed(`${count} to fix before a deployment.`);
      },
    }),
    "the stage to deploy",
    "prod",
  );
}

function textOf(where: string, { findings, checked, unseen }: Preflight): string {
  return [
    ...(findings.length === 0
      ? [`All checks of the deployment of ${where} passed.`, ""]
      : findingsText(findings)),
    `Checked: ${checked.join(", ")}.`,
    ...unseen.map(({ name, reason }) => `Not seen: ${name} (${reason}).`),
  ].join("\n");
}
