import { type ProviderInterface, providerInterfaces } from "@income-events/sandbox/provider-interface.ts";
import { Command, InvalidArgumentError, Option } from "commander";
import { type DynamoDbEngine, dynamoDbEngines } from "./engines/dynamodb.ts";
import type { SubscriberProgram } from "./stay-up/subscriber-program.ts";
import { wholeNumber } from "./whole-number.ts";

export type StartOptions = {
  /** Whether it runs the scenario and ends, instead of staying up. */
  readonly once: boolean;
  /** The program of that scenario. */
  readonly scenario?: string;
  readonly users: number;
  /** Seconds between new data of sample users while it stays up; 0 or absent: none. */
  readonly earnEvery?: number;
  readonly json?: string;
  readonly assembly?: string;
  /** Where each function's log is written to a file of its own; absent: in memory only. */
  readonly logs?: string;
  /** Where its state is kept from one start to the next; absent: it ends with the process. */
  readonly keep?: string;
  readonly stage: string;
  /** Which stack of the assembly, where there are several. */
  readonly stack?: string;
  /** Whether it follows what the app becomes while it stays up. */
  readonly watch?: boolean;
  /** Programs that read subscribers' queues. */
  readonly subscriber?: readonly SubscriberProgram[];
  readonly engine?: DynamoDbEngine;
  readonly apiPort: number;
  readonly awsPort: number;
  readonly sandboxPort: number;
  /** The version of the provider's interface that the sandbox speaks; absent: 0.4. */
  readonly interface?: ProviderInterface;
  /** Of the address that makes the sandbox fail on purpose; absent: there is none. */
  readonly controlPort?: number;
  /** A program of commands that serves a page on the system; absent: there is none. */
  readonly console?: string;
  readonly consolePort?: number;
  /** See `StackOptions`. */
  readonly streamRetentionSeconds?: number;
  readonly deduplicationSeconds?: number;
  readonly alarmClock?: () => number;
};

/** Where the running system is found; a scenario takes free ports instead, so that several run at once. */
const defaultPorts = {
  apiPort: 4000,
  awsPort: 4566,
  sandboxPort: 4010,
  controlPort: 4011,
  consolePort: 4020,
};

const freePorts = { apiPort: 0, awsPort: 0, sandboxPort: 0, controlPort: 0, consolePort: 0 };

/** Begun again at each start. */
const defaultLogs = ".local/logs";

/** Whether this is a clone, not an app that has installed the package. */
export const isClone = import.meta.filename.endsWith(".ts");

/** What a person types, in a clone or in an app that has installed the package. */
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

/** Reads the command line. Prints help, or what is wrong with it, and exits. */
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
      `port of the sandbox's control address (default ${defaultPorts.controlPort})`,
      port,
    )
    .option("--console <program>", "serve the console by this program")
    .option("--console-port <port>", `port of the console (default ${defaultPorts.consolePort})`, port)
    .addHelpText("after", examples)
    .parse(args, { from: "user" });
  const { ports, ...given } = command.opts<Partial<StartOptions> & { readonly ports?: "auto" }>();
  const once = given.once ?? false;
  if (once && given.keep !== undefined)
    command.error("error: --keep is for a system that stays up: --once begins anew each time");
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

const port = wholeNumber(0, 65_535);

/** Each time that the option is written adds one. */
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
