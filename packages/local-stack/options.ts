import { type ProviderInterface, providerInterfaces } from "@income-events/sandbox/provider-interface.ts";
import { wholeNumber } from "@income-events/sandbox/whole-number.ts";
import { Command, InvalidArgumentError, Option } from "commander";
import { type DynamoDbEngine, dynamoDbEngines } from "./engines/dynamodb.ts";
import type { SubscriberProgram } from "./stay-up/subscriber-program.ts";

export type StartOptions = {
  /** Whether to run the scenario and exit instead of staying up. */
  readonly once: boolean;
  readonly scenario?: string;
  readonly users: number;
  /** Seconds between new data of sample users while it stays up; 0 or absent: none. */
  readonly earnEvery?: number;
  readonly json?: string;
  readonly assembly?: string;
  /** Directory of the functions' log files; absent: in memory only. */
  readonly logs?: string;
  /** Directory of the state that persists between starts; absent: in memory only. */
  readonly keep?: string;
  readonly stage: string;
  /** Stack of the assembly, if there are several. */
  readonly stack?: string;
  readonly watch?: boolean;
  readonly subscriber?: readonly SubscriberProgram[];
  readonly engine?: DynamoDbEngine;
  readonly apiPort: number;
  readonly awsPort: number;
  readonly sandboxPort: number;
  /** Provider interface version of the sandbox; absent: 0.4. */
  readonly interface?: ProviderInterface;
  /** Port of the sandbox's fault controls; absent: none. */
  readonly controlPort?: number;
  /** Program that serves the console; absent: none. */
  readonly console?: string;
  readonly consolePort?: number;
  /** See `StackOptions`. */
  readonly streamRetentionSeconds?: number;
  readonly deduplicationSeconds?: number;
  readonly shortPollMs?: number;
  readonly maximumProcesses?: number;
  readonly alarmClock?: () => number;
};

/** Ports of a system that stays up. A scenario takes free ports, so several can run at once. */
const defaultPorts = {
  apiPort: 4000,
  awsPort: 4566,
  sandboxPort: 4010,
  controlPort: 4011,
  consolePort: 4020,
};

const freePorts = { apiPort: 0, awsPort: 0, sandboxPort: 0, controlPort: 0, consolePort: 0 };

/** Overwritten at each start. */
const defaultLogs = ".local/logs";

/** Whether this runs in a clone rather than from an installed package. */
export const isClone = import.meta.filename.endsWith(".ts");

/** Start command to show, in a clone or an installed package. */
export const startCommand = isClone ? "npm start --" : "npx income-events dev";

const examplesInClone = `
  npm start -- --once --users 200 --json out.json
      run the scenario; exit 0 only if nothing is lost
  npx cdk synth -c stage=local -o DIR && npm start -- --assembly DIR
      run a synthesized directory as it is`;

const examples = `
Examples:
  ${startCommand} --users 5
      stay up until Ctrl-C, with five sample users
  ${startCommand} --ports auto
      the same, beside another system on this machine
  ${startCommand} --json addresses.json
      write the addresses to a file
  ${startCommand} --keep .local/state
      keep the state, and continue with it at the next start${isClone ? examplesInClone : ""}`;

/** Parses the command line. Prints help or the error, and exits. */
export function parseOptions(args: readonly string[]): StartOptions {
  const command = new Command(startCommand)
    .description("Starts the synthesized pipeline and a sandbox of the income-data service on this machine.")
    .option("--once", "run a scenario with faults, print what was counted, and exit")
    .option("--scenario <program>", "program of that scenario")
    .option("--users <n>", "sample users that connect their accounts", wholeNumber(1, 100_000), 20)
    .option(
      "--earn-every <seconds>",
      "seconds between new data of sample users; 0: none",
      wholeNumber(0, 86_400),
      5,
    )
    .option(
      "--json <file>",
      "write addresses and credentials (and with --once the counts) as JSON that only you can read",
    )
    .option("--assembly <dir>", "run this synthesized directory instead of synthesizing")
    .option(
      "--logs <dir>",
      `write each function's log to a file there (default ${defaultLogs}; with --once none)`,
    )
    .option(
      "--keep <dir>",
      "keep the state there, and continue with it at the next start (default: start empty)",
    )
    .option("--stage <name>", "the stage to synthesize", "local")
    .option("--stack <name>", "the stack, if the assembly has several")
    .option("--watch", "follow the app: serve new code, and restart if other resources change")
    .option(
      "--subscriber <name=program>",
      "run a program on that subscriber's queue, and restart it when it changes; repeatable",
      subscriberProgram,
    )
    .addOption(
      new Option("--engine <name>", "engine of the table; dynamodb-local needs Java 17").choices(
        dynamoDbEngines,
      ),
    )
    .addOption(
      new Option(
        "--interface <version>",
        "provider's interface in the sandbox; the pipeline's is the setting provider.interface",
      ).choices(providerInterfaces),
    )
    .addOption(
      new Option(
        "--ports <auto>",
        "take a free port for each of the five options below that is not given",
      ).choices(["auto"]),
    )
    .option("--api-port <port>", `port of the webhooks' API (default ${defaultPorts.apiPort})`, port)
    .option("--aws-port <port>", `port of the AWS endpoint (default ${defaultPorts.awsPort})`, port)
    .option("--sandbox-port <port>", `port of the sandbox (default ${defaultPorts.sandboxPort})`, port)
    .option(
      "--control-port <port>",
      `port of the sandbox's fault controls (default ${defaultPorts.controlPort})`,
      port,
    )
    .option("--console <program>", "serve the console by this program")
    .option("--console-port <port>", `port of the console (default ${defaultPorts.consolePort})`, port)
    .addHelpText("after", examples);
  checkValues(command, args);
  command.parse(args, { from: "user" });
  const { ports, ...given } = command.opts<Partial<StartOptions> & { readonly ports?: "auto" }>();
  const once = given.once ?? false;
  if (once && given.keep !== undefined)
    command.error("error: --keep is for a system that stays up: --once starts empty each time");
  if (once && given.scenario === undefined)
    command.error("error: --once needs a program: --scenario PROGRAM");
  const free = once || ports === "auto";
  const logs = once ? {} : { logs: defaultLogs };
  if (given.watch === true && (once || given.assembly !== undefined))
    command.error("error: --watch follows an app that stays up: leave --once and --assembly out");
  return {
    ...(free ? freePorts : defaultPorts),
    ...logs,
    ...given,
    once,
    users: given.users ?? 20,
    earnEvery: given.earnEvery ?? 5,
    stage: given.stage ?? "local",
  };
}

/** Commander takes any next word as an option's value, also another option. */
function checkValues(command: Command, args: readonly string[]): void {
  for (const [index, word] of args.entries()) {
    const option = command.options.find((each) => each.required && each.long === word);
    if (option !== undefined && args[index + 1]?.startsWith("--") === true)
      command.error(`error: option '${option.flags}' argument missing`);
  }
}

const port = wholeNumber(0, 65_535);

/** Parses one occurrence of a repeatable option and appends it. */
function subscriberProgram(
  text: string,
  before: readonly SubscriberProgram[] = [],
): readonly SubscriberProgram[] {
  const [, name, program] = /^((?:[A-Za-z0-9]+\/)?[a-z0-9-]+)=(.+)$/.exec(text) ?? [];
  if (name === undefined || program === undefined)
    throw new InvalidArgumentError(
      "Write the subscriber's name and the file of its program, as billing=subscriber.ts.",
    );
  return [...before, { name, program }];
}
