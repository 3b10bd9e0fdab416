import type { Command } from "commander";
import { addCommand } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import type { DeploymentOptions } from "../core/deployment.ts";
import { openFindings, reportText } from "../doctor/causes.ts";
import { examine } from "../doctor/examine.ts";

type Flags = DeploymentOptions & { readonly settings?: string };

export function addTo(program: Command): void {
  addCommand<Flags>(program, {
    name: "doctor",
    summary:
      "Checks the stage and shows each problem with its cause, its impact and the command that fixes it. Exits 1 if there is a problem.",
    examples: [
      "npx income-events doctor",
      "npx income-events doctor --stage prod --outputs outputs.json --json    for programs",
      "npx income-events doctor --settings my-settings.json    if the stage was deployed with -c settings=FILE",
    ],
    run: async ({ deployment, clients, terminal }, flags) => {
      const { stage } = deployment;
      const diagnosis = await examine({ deployment, clients, now: new Date() }, flags.settings, flags);
      terminal.result({ stage, ...diagnosis }, reportText(stage, diagnosis, terminal.paint));
      const open = openFindings(diagnosis.findings).length;
      if (open === 0) return;
      const count = open === 1 ? "One thing is" : `${open} things are`;
      throw CommandError.failed(`${count} wrong with the stage ${stage}.`);
    },
  }).option("--settings <file>", "compare the deployed settings with this file instead of stages/STAGE.json");
}
