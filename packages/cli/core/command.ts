import type { Command } from "commander";
import { type Clients, createClients } from "./clients.ts";
import { type Deployment, type DeploymentOptions, findDeployment } from "./deployment.ts";
import { runningSystemsDirectory } from "./running-systems.ts";
import { createTerminal, type Terminal } from "./terminal.ts";

export type Operation = {
  readonly deployment: Deployment;
  readonly clients: Clients;
  readonly terminal: Terminal;
};

/** A deployment, and the clients that reach it. */
export type Place = Pick<Operation, "deployment" | "clients">;

type CommandDescription<Run> = {
  /** Name and arguments in commander's form: `show <id>`. */
  readonly name: string;
  readonly summary: string;
  /** Works only on a local system, so it has no `--outputs`. */
  readonly isLocal?: true;
  /** Asks before it destroys something or costs money, so it has `--yes`. */
  readonly asks?: true;
  /** Has `--user`, `--account` and `--company-account`: the beginning of their descriptions, and the end of the first. */
  readonly subject?: readonly [of: string, ofUser: string];
  /** `file`: `--json` may name a file, which the command writes itself. */
  readonly json?: "file";
  /** Examples in the help: a command line and, after four spaces, its effect. */
  readonly examples: readonly string[];
  /** Receives the command's own flags, as commander parsed them, and its arguments in order. */
  readonly run: Run;
};

type Run<On, Flags> = (on: On, flags: Flags, ...args: readonly string[]) => Promise<void>;

/** Adds a command with the options that all commands share. Add further options to the result. */
export function addCommand<Flags extends object = object>(
  group: Command,
  description: CommandDescription<Run<Operation, Flags>>,
): Command {
  const command = addOfflineCommand<Flags & DeploymentOptions>(group, {
    ...description,
    run: async (terminal, flags, ...args) => {
      const deployment = findDeployment(flags, runningSystemsDirectory);
      using clients = createClients(deployment);
      await description.run({ deployment, clients, terminal }, flags, ...args);
    },
  })
    .option("--stage <name>", "the stage, if there are several")
    .option("--pipeline <name>", "the pipeline, if a stage or a stack has several: the construct's id")
    .option(
      "--local <port|folder>",
      "the system on this machine: one of its ports, or the folder it was started in",
    );
  return description.isLocal === true
    ? command
    : command.option(
        "--outputs <file>",
        "the stage in AWS of this file, written by cdk deploy --outputs-file",
      );
}

const maxWidth = 100;

/** A command line and its effect, on several lines if they are too wide for one. */
function exampleText(example: string): string {
  const line = `  ${example}`;
  if (line.length <= maxWidth) return line;
  const [, command = "", ...words] = line.split(/ {2,}/);
  const at = command.lastIndexOf(" --", maxWidth - 5);
  const isWide = command.length > maxWidth - 2 && at > 0;
  const parts = isWide ? [`${command.slice(0, at)} \\`, `   ${command.slice(at)}`] : [command];
  return [...parts, ...words.map((text) => `    ${text}`)].map((part) => `  ${part}`).join("\n");
}

/** Adds a command that needs no deployment: it has no `--outputs`, and only its own `--stage`. */
export function addOfflineCommand<Flags extends object = object>(
  group: Command,
  { name, summary, asks, subject, json, examples, run }: CommandDescription<Run<Terminal, Flags>>,
): Command {
  const command = group
    .command(name)
    .description(summary)
    .option(
      json === "file" ? "--json [file]" : "--json",
      `print the result as one line of JSON${json === "file" ? ", or write it to a file" : ""}`,
    );
  if (asks === true) command.option("--yes", "do not ask for confirmation");
  if (subject !== undefined)
    command
      .option("--user <id>", `${subject[0]} user${subject[1]}`)
      .option("--account <id>", `${subject[0]} account`)
      .option("--company-account <id>", `${subject[0]} company account`);
  return command
    .addHelpText("after", ["\nExamples:", ...examples.map(exampleText)].join("\n"))
    .action(async function (this: Command) {
      const flags = this.opts<Flags & { readonly json?: boolean | string; readonly yes?: boolean }>();
      const terminal = createTerminal({ json: flags.json === true, yes: flags.yes ?? false });
      await run(terminal, flags, ...this.args);
    });
}
