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

const groups = {
  token: "Sets and refreshes the provider's token.",
  webhooks: "Registers the webhooks with the provider.",
  reconcile: "Compares the table with the provider's lists.",
  sandbox: "Makes the sandbox fail, or recover.",
  secret: "Rotates the webhook secret.",
  records: "Shows users and accounts.",
  events: "Lists, shows and follows stored events.",
  mapping: "Tries the mapping of webhooks to events.",
  subscribers: "Tests and follows the services that read the events.",
  local: "Works with a system on this machine.",
  dlq: "Shows, redrives and purges dead letters: messages that failed.",
  erase: "Erases users and accounts permanently.",
  hold: "Sets and clears legal holds, which prevent expiry and erasure.",
  audit: "Lists operators' actions.",
  fetch: "Fetches documents again.",
  documents: "Lists, shows and exports the provider's data.",
} as const;

type CommandFile = {
  readonly group?: keyof typeof groups;
  /** Help text for the group's commands. */
  readonly names: readonly string[];
  /** `addTo` adds the commands to the program or to the group. */
  readonly load: () => Promise<{ readonly addTo: (group: Command) => void }>;
};

/** In the order of the help. Loaded on demand, because loading all takes most of a command's time. */
const commandFiles: readonly CommandFile[] = [
  { names: ["init"], load: () => import("./commands/init.ts") },
  { names: ["dev"], load: () => import("./commands/dev.ts") },
  { names: ["status"], load: () => import("./commands/status.ts") },
  { names: ["console"], load: () => import("./commands/console.ts") },
  { names: ["preflight"], load: () => import("./commands/preflight.ts") },
  { names: ["key-policy"], load: () => import("./commands/key-policy.ts") },
  { names: ["doctor"], load: () => import("./commands/doctor.ts") },
  { names: ["verify"], load: () => import("./commands/verify.ts") },
  { names: ["logs"], load: () => import("./commands/logs.ts") },
  { group: "audit", names: ["list"], load: () => import("./commands/audit-list.ts") },
  { group: "fetch", names: ["account", "company-account"], load: () => import("./commands/fetch.ts") },
  {
    group: "reconcile",
    names: ["now", "accept-deletions", "undelete"],
    load: () => import("./commands/reconcile.ts"),
  },
  { group: "token", names: ["set", "refresh"], load: () => import("./commands/token.ts") },
  { group: "webhooks", names: ["register"], load: () => import("./commands/webhooks-register.ts") },
  { group: "secret", names: ["rotate"], load: () => import("./commands/secret-rotate.ts") },
  { group: "records", names: ["show", "find"], load: () => import("./commands/records.ts") },
  { group: "documents", names: ["list", "get", "export"], load: () => import("./commands/documents.ts") },
  { group: "events", names: ["list"], load: () => import("./commands/events-list.ts") },
  { group: "events", names: ["show", "tail"], load: () => import("./commands/events-show.ts") },
  { group: "mapping", names: ["try"], load: () => import("./commands/mapping-try.ts") },
  { group: "subscribers", names: ["tail", "test"], load: () => import("./commands/subscribers.ts") },
  { names: ["replay"], load: () => import("./commands/replay.ts") },
  { names: ["repair"], load: () => import("./commands/repair.ts") },
  { names: ["trigger"], load: () => import("./commands/trigger.ts") },
  {
    group: "sandbox",
    names: ["fail", "heal", "advance", "token"],
    load: () => import("./commands/sandbox.ts"),
  },
  { group: "local", names: ["forward", "show"], load: () => import("./commands/local.ts") },
  { group: "dlq", names: ["list", "show"], load: () => import("./commands/dlq-list.ts") },
  { group: "dlq", names: ["redrive", "purge"], load: () => import("./commands/dlq-redrive.ts") },
  {
    group: "erase",
    names: ["user", "account", "company-account", "status", "apply-log"],
    load: () => import("./commands/erase.ts"),
  },
  { group: "hold", names: ["set", "clear", "list"], load: () => import("./commands/hold.ts") },
  { names: ["restore"], load: () => import("./commands/restore.ts") },
];

/**
 * Creates the command line's program.
 * @param words the arguments; if they name a command, only that one is loaded, otherwise all
 */
export async function createProgram(words: readonly string[] = []): Promise<Command> {
  // Set before the groups are added, because they inherit it.
  const program = new Command("income-events")
    .description("Operates an income-events pipeline.")
    .version(packageVersion(), "--version", "print the version")
    .exitOverride()
    // Every command has options: without the word, the list has room for what each does.
    .configureHelp({ subcommandTerm })
    .addHelpText("after", help);
  const named = commandFiles.filter((file) => isNamed(file, words));
  const files = named.length === 0 ? commandFiles : named;
  const adding = await Promise.all(files.map(async ({ group, load }) => ({ group, ...(await load()) })));
  const parents = new Map<string, Command>();
  for (const { group, addTo } of adding) {
    if (group !== undefined && !parents.has(group))
      parents.set(group, program.command(group).description(groups[group]));
    addTo(parents.get(group ?? "") ?? program);
  }
  return program;
}

function subcommandTerm(command: Command): string {
  return [command.name(), ...command.registeredArguments.map(argumentTerm)].join(" ");
}

function argumentTerm(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function isNamed({ group, names }: CommandFile, [first = "", second = ""]: readonly string[]): boolean {
  return group === undefined ? names.includes(first) : first === group && names.includes(second);
}

/** Runs a command line. @returns the exit code; errors were reported on standard error */
export async function runProgram(args: readonly string[], given?: Command): Promise<number> {
  const [first, ...words] = args;
  // Commander's own help takes only one word.
  if (first === "help" && words.length > 0) return runProgram([...words, "--help"], given);
  const program = given ?? (await createProgram(args));
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
