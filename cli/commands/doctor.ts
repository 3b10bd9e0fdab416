import type { Command } from "commander";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import type { DeploymentOptions } from "../core/deployment.ts";
import { type Diagnosis, examine } from "../doctor/examine.ts";
import type { Finding } from "../doctor/finding.ts";

type Flags = DeploymentOptions & { readonly settings?: string };

export function addDoctor(program: Command): void {
  addCommand<Flags>(
    program,
    {
      name: "doctor",
      summary:
        "Finds what is wrong with the stage, and says why it matters and what fixes it. Exits 1 if anything is.",
      examples: [
        "npx income-events doctor",
        "npx income-events doctor --stage prod --outputs outputs.json --json    for programs",
        "npx income-events doctor --settings my-settings.json    where the stage was deployed with -c settings=FILE",
      ],
    },
    doctor,
  ).option("--settings <file>", "compare the deployed settings with this file instead of stages/STAGE.json");
}

async function doctor({ deployment, clients, terminal }: Operation, flags: Flags): Promise<void> {
  const { stage } = deployment;
  const diagnosis = await examine({ deployment, clients, now: new Date() }, flags.settings);
  const findings = diagnosis.findings.map((finding) => ({
    ...finding,
    fix: forDeployment(finding.fix, flags),
  }));
  terminal.result({ stage, ...diagnosis, findings }, textOf(stage, findings, diagnosis));
  if (findings.length === 0) return;
  const count = findings.length === 1 ? "One thing is" : `${findings.length} things are`;
  throw new CommandError("failed", `${count} wrong with the stage ${stage}.`);
}

/** A command of ours as it is to be typed for the same deployment. */
function forDeployment(fix: string, { stage, outputs }: DeploymentOptions): string {
  const flags = [
    ...(stage === undefined ? [] : [`--stage ${stage}`]),
    ...(outputs === undefined ? [] : [`--outputs ${outputs}`]),
  ].join(" ");
  if (flags === "") return fix;
  return fix.replace(/npx income-events [^<]*[^< ]/, (command) => `${command} ${flags}`);
}

function textOf(stage: string, findings: readonly Finding[], { checked }: Diagnosis): string {
  const lines = findings.flatMap(({ what, why, fix }, index) => {
    const number = `${index + 1}. `;
    const indent = " ".repeat(number.length);
    return [`${number}${what}`, `${indent}${why}`, `${indent}Fix it: ${fix}`, ""];
  });
  const all = `Checked: ${checked.join(", ")}.`;
  return findings.length === 0
    ? `Nothing is wrong with the stage ${stage}.\n${all}`
    : [...lines, all].join("\n");
}
