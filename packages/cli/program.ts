import { Command, CommanderError } from "commander";
import { exitCodes } from "./core/command-error.ts";
import { explain } from "./core/explain.ts";
import { packageVersion } from "./core/package-version.ts";

const help = `
Commands work on the system that npm start keeps up on this machine; with --outputs on a stage in AWS, with the
credentials that AWS's own tools would use there.
Exit codes: 0 done, ${exitCodes.failed} failed, ${exitCodes.usage} used wrongly or not confirmed, ${exitCodes.noDeployment} no deployment or no access to it, ${exitCodes.nobody} nothing of that id is known, ${exitCodes.held} a legal hold forbids it.

Example:
  npx income-events webhooks register --help`;

const groups = {
  token: "the provider's token",
  webhooks: "the webhooks at the provider",
  reconcile: "the comparison with the provider's list of users",
  sandbox: "how the provider of a local system fails, and goes on",
  secret: "the secret that webhooks carry",
  records: "what is known of users and accounts",
  events: "the events that are stored",
  mapping: "how a provider's webhooks become events",
  subscribers: "who gets the events",
  local: "a deployed stage's events, on your own machine",
  dlq: "dead letters: what could not be processed",
  erase: "users and accounts, for good",
  hold: "what must not expire or be erased",
  audit: "what operators did",
  fetch: "documents, read again",
  documents: "the provider's data",
} as const;

type CommandFile = {
  readonly group?: keyof typeof groups;
  /** What is written for its commands, after the group. */
  readonly names: readonly string[];
  readonly load: () => Promise<(group: Command) => void>;
};

/** In the order of the help. Loaded when they are needed: most of a command's time would go into loading the others. */
const commandFiles: readonly CommandFile[] = [
  { names: ["init"], load: async () => (await import("./commands/init.ts")).addInit },
  { names: ["dev"], load: async () => (await import("./commands/dev.ts")).addDev },
  { names: ["status"], load: async () => (await import("./commands/status.ts")).addStatus },
  { names: ["console"], load: async () => (await import("./commands/console.ts")).addConsole },
  { names: ["preflight"], load: async () => (await import("./commands/preflight.ts")).addPreflight },
  { names: ["key-policy"], load: async () => (await import("./commands/key-policy.ts")).addKeyPolicy },
  { names: ["doctor"], load: async () => (await import("./commands/doctor.ts")).addDoctor },
  { names: ["verify"], load: async () => (await import("./commands/verify.ts")).addVerify },
  { names: ["logs"], load: async () => (await import("./commands/logs.ts")).addLogs },
  {
    group: "audit",
    names: ["list"],
    load: async () => (await import("./commands/audit-list.ts")).addAuditList,
  },
  {
    group: "fetch",
    names: ["account", "company-account"],
    load: async () => (await import("./commands/fetch.ts")).addFetch,
  },
  {
    group: "reconcile",
    names: ["now"],
    load: async () => (await import("./commands/reconcile-now.ts")).addReconcileNow,
  },
  { group: "token", names: ["set"], load: async () => (await import("./commands/token-set.ts")).addTokenSet },
  {
    group: "token",
    names: ["refresh"],
    load: async () => (await import("./commands/token-refresh.ts")).addTokenRefresh,
  },
  {
    group: "webhooks",
    names: ["register"],
    load: async () => (await import("./commands/webhooks-register.ts")).addWebhooksRegister,
  },
  {
    group: "secret",
    names: ["rotate"],
    load: async () => (await import("./commands/secret-rotate.ts")).addSecretRotate,
  },
  {
    group: "records",
    names: ["show"],
    load: async () => (await import("./commands/records-show.ts")).addRecordsShow,
  },
  {
    group: "documents",
    names: ["list"],
    load: async () => (await import("./commands/documents-list.ts")).addDocumentsList,
  },
  {
    group: "documents",
    names: ["get"],
    load: async () => (await import("./commands/documents-get.ts")).addDocumentsGet,
  },
  {
    group: "documents",
    names: ["export"],
    load: async () => (await import("./commands/documents-export.ts")).addDocumentsExport,
  },
  {
    group: "events",
    names: ["list"],
    load: async () => (await import("./commands/events-list.ts")).addEventsList,
  },
  {
    group: "events",
    names: ["show"],
    load: async () => (await import("./commands/events-show.ts")).addEventsShow,
  },
  {
    group: "events",
    names: ["tail"],
    load: async () => (await import("./commands/events-tail.ts")).addEventsTail,
  },
  {
    group: "mapping",
    names: ["try"],
    load: async () => (await import("./commands/mapping-try.ts")).addMappingTry,
  },
  {
    group: "subscribers",
    names: ["tail", "test"],
    load: async () => (await import("./commands/subscribers.ts")).addSubscribers,
  },
  { names: ["replay"], load: async () => (await import("./commands/replay.ts")).addReplay },
  { names: ["repair"], load: async () => (await import("./commands/repair.ts")).addRepair },
  { names: ["trigger"], load: async () => (await import("./commands/trigger.ts")).addTrigger },
  {
    group: "sandbox",
    names: ["fail", "heal", "advance", "token"],
    load: async () => (await import("./commands/sandbox.ts")).addSandbox,
  },
  {
    names: ["completion"],
    load: async () => {
      const { addCompletion } = await import("./commands/completion.ts");
      return (program) => addCompletion(program, createProgram);
    },
  },
  {
    group: "local",
    names: ["forward"],
    load: async () => (await import("./commands/local-forward.ts")).addLocalForward,
  },
  { group: "dlq", names: ["list"], load: async () => (await import("./commands/dlq-list.ts")).addDlqList },
  { group: "dlq", names: ["show"], load: async () => (await import("./commands/dlq-show.ts")).addDlqShow },
  {
    group: "dlq",
    names: ["redrive"],
    load: async () => (await import("./commands/dlq-redrive.ts")).addDlqRedrive,
  },
  { group: "dlq", names: ["purge"], load: async () => (await import("./commands/dlq-purge.ts")).addDlqPurge },
  {
    group: "erase",
    names: ["user", "account", "company-account"],
    load: async () => (await import("./commands/erase.ts")).addErase,
  },
  {
    group: "erase",
    names: ["status"],
    load: async () => (await import("./commands/erase-status.ts")).addEraseStatus,
  },
  {
    group: "erase",
    names: ["apply-log"],
    load: async () => (await import("./commands/erase-apply-log.ts")).addEraseApplyLog,
  },
  {
    group: "hold",
    names: ["set", "clear", "list"],
    load: async () => (await import("./commands/hold.ts")).addHold,
  },
  { names: ["restore"], load: async () => (await import("./commands/restore.ts")).addRestore },
];

/**
 * The command line.
 * @param words what is written: where they name a command, the program has that one alone, else all of them
 */
export async function createProgram(words: readonly string[] = []): Promise<Command> {
  // Before the groups: they take over how errors are reported.
  const program = new Command("income-events")
    .description("Operates the pipeline of an income-data service's events.")
    .version(packageVersion(), "--version", "print the version")
    .exitOverride()
    .addHelpText("after", help);
  const named = commandFiles.filter((file) => isNamed(file, words));
  const files = named.length === 0 ? commandFiles : named;
  const adding = await Promise.all(files.map(async ({ group, load }) => ({ group, add: await load() })));
  const parents = new Map<string, Command>();
  for (const { group, add } of adding) {
    if (group === undefined) {
      add(program);
    } else {
      const parent = parents.get(group) ?? program.command(group).description(groups[group]);
      parents.set(group, parent);
      add(parent);
    }
  }
  return program;
}

function isNamed({ group, names }: CommandFile, [first = "", second = ""]: readonly string[]): boolean {
  return group === undefined ? names.includes(first) : first === group && names.includes(second);
}

/** Runs a command line. @returns the exit code; what went wrong was reported on the standard error */
export async function runProgram(args: readonly string[], given?: Command): Promise<number> {
  const [first, ...words] = args;
  // Commander's own help knows one word only.
  if (first === "help" && words.length > 0) return runProgram([...words, "--help"], given);
  const program = given ?? (await createProgram(args));
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    // Reported by commander already; a help that was asked for is no error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    const { exitCode, message } = explain(error);
    process.stderr.write(`${message}\n`);
    return exitCode;
  }
}
