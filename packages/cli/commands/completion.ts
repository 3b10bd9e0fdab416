import type { Command } from "commander";
import { scriptFor, shells } from "../completion/scripts.ts";
import { addOfflineCommand } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { compileCacheDirectory, programFile } from "../core/places.ts";

const program = { words: [process.execPath, programFile], compileCache: compileCacheDirectory };

export function addCompletion(group: Command): void {
  addOfflineCommand(
    group,
    {
      name: "completion <shell>",
      summary: `Prints what a shell (${shells.join(", ")}) needs to complete commands, options and stages at Tab.`,
      examples: [
        "npx income-events completion bash    for example: source <(npx income-events completion bash)",
        "npx income-events completion zsh > ~/.zsh/completions/_income-events",
        "npx income-events completion fish > ~/.config/fish/completions/income-events.fish",
      ],
    },
    async (terminal, _, wanted = "") => {
      const shell = shells.find((each) => each === wanted);
      if (shell === undefined)
        throw new CommandError(
          "usage",
          `There is no completion for ${wanted}; there is: ${shells.join(", ")}.`,
        );
      const script = scriptFor(shell, program);
      terminal.result({ shell, script }, script);
    },
  );
}
