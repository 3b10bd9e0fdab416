import type { Command } from "commander";
import { addOfflineCommand } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { addStageFlags, readStageSettings, type StageFlags } from "../core/stage-settings.ts";
import type { Terminal } from "../core/terminal.ts";
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
      run: preflight,
    }),
    "the stage to deploy",
    "prod",
  );
}

async function preflight(terminal: Terminal, { stage, settings: file }: StageFlags): Promise<void> {
  const settings = readStageSettings(stage, file);
  using account = await openAccount();
  const { id, region } = account;
  const plan = { stage, stackName: `income-events-${stage}`, settings, account };
  const result = await examinePreflight(plan);
  terminal.result({ stage, account: id, region, ...result }, textOf(`${stage} in ${id}, ${region}`, result));
  const { length } = result.findings;
  if (length > 0)
    throw CommandError.failed(
      `${length === 1 ? "One thing" : `${length} things`} to fix before a deployment.`,
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
