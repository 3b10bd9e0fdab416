import type { Command } from "commander";
import { type Clients, createClients } from "./clients.ts";
import { type Deployment, findDeployment } from "./deployment.ts";
import { runningSystemsDirectory } from "./running-systems.ts";
import { createTerminal, type Terminal } from "./terminal.ts";

/** What every command works with. */
export type Operation = {
  readonly deployment: Deployment;
  readonly clients: Clients;
  readonly terminal: Terminal;
};

export type CommandDescription = {
  /** With its arguments, as commander takes it: `show <id>`. */
  readonly name: string;
  readonly summary: string;
  /** Lines of the help, a command line each, with what it does after four spaces. */
  readonly examples: readonly string[];
};

type CommonFlags = {
  readonly stage?: string;
  readonly outputs?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
};

/**
 * Adds a command to a group, with the options that all commands have. Further options are added to the result.
 * @param run gets the command's own flags, as commander parsed them, and its arguments in order
 */
export function addCommand<Flags extends object = object>(
  group: Command,
  { name, summary, examples }: CommandDescription,
  run: (operation: Operation, flags: Flags, ...args: readonly string[]) => Promise<void>,
): Command {
  return group
    .command(name)
    .description(summary)
    .option("--stage <name>", "the stage, where there are several")
    .option("--outputs <file>", "work in AWS, on the stage of this file of cdk deploy --outputs-file")
    .option("--json", "print the result as one line of JSON")
    .option("--yes", "don't ask before anything is destroyed")
    .addHelpText("after", ["\nExamples:", ...examples.map((example) => `  ${example}`)].join("\n"))
    .action(async function (this: Command) {
      const flags = this.opts<Flags & CommonFlags>();
      const terminal = createTerminal({ json: flags.json ?? false, yes: flags.yes ?? false });
      const deployment = findDeployment(flags, runningSystemsDirectory);
      using clients = createClients(deployment);
      await run({ deployment, clients, terminal }, flags, ...this.args);
    });
}
