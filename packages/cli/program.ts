import { type Argument, Command, CommanderError } from "commander";
import { exitCodes, explain } from "./core/command-error.ts";
import { packageVersion } from "./core/places.ts";
import { foldLines } from "./core/terminal.ts";

const help = `
Commands work on the system that runs on this machine. With --outputs they work on a stage in AWS,
with the credentials that the AWS CLI uses.
Exit codes: 0 done, ${exitCodes.failed} failed, ${exitCodes.usage} wrong usage or not confirmed, ${exitCodes.noDeployment} no deployment or no access to it,
${exitCodes.nobody} id not found, ${exitCodes.held} refused because of a legal hold.

Example:
  npx income-events webhooks register --help`;

/**
 * The files of commands and of groups of commands by their names, in the order of the help. Loaded on demand,
 * because loading all takes most of a command's time.
 */
const files: Readonly<Record<string, () => Promise<{ readonly addTo: (program: Command) => void }>>> = {
  init: () => import("./commands/init.ts"),
  dev: () => import("./commands/dev.ts"),
  status: () => import("./commands/status.ts"),
  console: () => import("./commands/console.ts"),
  preflight: () => import("./commands/preflight.ts"),
  "key-policy": () => import("./commands/key-policy.ts"),
  doctor: () => import("./commands/doctor.ts"),
  verify: () => import("./commands/verify.ts"),
  logs: () => import("./commands/logs.ts"),
  audit: () => import("./commands/audit-list.ts"),
  fetch: () => import("./commands/fetch.ts"),
  reconcile: () => import("./commands/reconcile.ts"),
  token: () => import("./commands/token.ts"),
  webhooks: () => import("./commands/webhooks-register.ts"),
  secret: () => import("./commands/secret-rotate.ts"),
  records: () => import("./commands/records.ts"),
  documents: () => import("./commands/documents.ts"),
  events: () => import("./commands/events.ts"),
  mapping: () => import("./commands/mapping-try.ts"),
  subscribers: () => import("./commands/subscribers.ts"),
  replay: () => import("./commands/replay.ts"),
  repair: () => import("./commands/repair.ts"),
  trigger: () => import("./commands/trigger.ts"),
  sandbox: () => import("./commands/sandbox.ts"),
  local: () => import("./commands/local.ts"),
  dlq: () => import("./commands/dlq.ts"),
  erase: () => import("./commands/erase.ts"),
  hold: () => import("./commands/hold.ts"),
  restore: () => import("./commands/restore.ts"),
};

/**
 * Creates the command line's program.
 * @param word the first argument; if it names a command or a group, only that is loaded, otherwise all
 */
export async function createProgram(word?: string): Promise<Command> {
  // Set before the groups are added, because they inherit it.
  const program = new Command("income-events")
    .description("Operates an income-events pipeline.")
    .version(packageVersion(), "--version", "print the version")
    .exitOverride()
    // Every command has options: without the word, the list has room for what each does.
    .configureHelp({ subcommandTerm })
    .addHelpText("after", help);
  const named = Object.entries(files).filter(([name]) => name === word);
  const all = named.length === 0 ? Object.entries(files) : named;
  for (const { addTo } of await Promise.all(all.map(([, load]) => load()))) addTo(program);
  return program;
}

function subcommandTerm(command: Command): string {
  return [command.name(), ...command.registeredArguments.map(argumentTerm)].join(" ");
}

function argumentTerm(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** Runs a command line. @returns the exit code; errors were reported on standard error */
export async function runProgram(args: readonly string[], given?: Command): Promise<number> {
  const [first, ...words] = args;
  // Commander's own help takes only one word.
  if (first === "help" && words.length > 0) return runProgram([...words, "--help"], given);
  const program = given ?? (await createProgram(first));
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    // Already reported by commander; a requested help is not an error.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { exitCode, message } =
      error instanceof CommanderError ? { exitCode: exitCodes.usage, message: "" } : explain(error);
    const isAnswered = exitCode !== exitCodes.usage || /npx |--yes|Nothing was done/.test(message);
    const lines = [message, isAnswered ? "" : `Options: ${helpCommand(program, args)}`];
    const text = lines.filter((line) => line !== "").join("\n");
    const { stderr } = process;
    stderr.write(`${stderr.isTTY ? foldLines(text, stderr.columns) : text}\n`);
    return exitCode;
  }
}

function helpCommand(program: Command, args: readonly string[]): string {
  const words: string[] = [];
  for (let command = program; ; ) {
    const name = args[words.length];
    const next = command.commands.find((each) => each.name() === name);
    if (next === undefined) return ["npx income-events", ...words, "--help"].join(" ");
    words.push(next.name());
    command = next;
  }
}
