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
        "Looks at the account and region before a deployment, for what would fail it or lose something after it. Exits 1 if anything would.",
      examples: [
        "npx income-events preflight --stage prod",
        "npx income-events preflight --settings my-settings.json --json    for programs",
      ],
      run: preflight,
    }),
    "the stage that is to be deployed",
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
      ? [`Nothing that was seen stands in the way of a deployment of ${where}.`, ""]
      : findingsText(findings)),
    `Checked: ${checked.join(", ")}.`,
    ...unseen.map(({ name, reason }) => `Not seen: ${name} (${reason}).`),
  ].join("\n");
}
