import type { Command } from "commander";
import { keyPolicyStatements } from "../../../lib/settings/settings.ts";
import { addOfflineCommand } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { addStageFlags, readStageSettings, type StageFlags } from "../core/stage-settings.ts";

export function addTo(program: Command): void {
  addStageFlags(
    addOfflineCommand<StageFlags>(program, {
      name: "key-policy",
      summary: "Prints the policy that your own KMS key needs before the stage is deployed.",
      examples: [
        "npx income-events key-policy --stage prod",
        "npx income-events key-policy --settings my-settings.json --json    for programs",
      ],
      run: async (terminal, { stage, settings: file }) => {
        const settings = readStageSettings(stage, file);
        if (settings.encryption.keyArn === undefined)
          throw CommandError.usage(
            `The stage ${stage} has no key of its own, so no policy is needed. The setting encryption.keyArn names one.`,
          );
        const statements = keyPolicyStatements(`income-events-${stage}`, settings);
        terminal.result({ statements }, JSON.stringify(statements, undefined, 2));
      },
    }),
    "the stage whose settings name the key",
    "prod",
  );
}
