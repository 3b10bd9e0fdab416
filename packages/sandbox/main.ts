import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { answerEncodings } from "./api/encodings.ts";
import { createFaults, type Fault, faultEffects } from "./api/faults.ts";
import { providerInterfaces, retryAfterForms } from "./provider-interface.ts";
import { type SandboxOptions, startSandbox } from "./server.ts";
import { wholeNumber } from "./whole-number.ts";

type Flags = Pick<
  SandboxOptions,
  | "directory"
  | "interface"
  | "pageSize"
  | "port"
  | "productionPort"
  | "refreshEndsToken"
  | "requestsPerMinute"
  | "retryAfter"
  | "seed"
> & {
  readonly controlPort: number;
  readonly control: boolean;
  readonly tokenLifetime: number;
  readonly accountAlert: boolean;
  readonly fault?: readonly Fault[];
  readonly firstRetry: number;
  readonly users: number;
  readonly operatorName?: string;
  readonly logo?: string;
  readonly accentColor?: string;
};

const port = wholeNumber(0, 65_535);

/** Syntax of a fault on the command line. */
const faultFlagForm = "status or effect[:count or share%][:path]";

/**
 * Parses a fault: `503`, `429:10%`, `hang:3:/users`. Without a count or share it affects every call.
 * @throws a range error with the syntax
 */
function parseFaultFlag(text: string): Fault {
  const [what = "", amount = "100%", ...path] = text.split(":");
  return {
    ...parseWhat(what),
    ...parseAmount(amount),
    ...(path.length === 0 ? {} : { path: path.join(":") }),
  };
}

function parseWhat(text: string): Pick<Fault, "status" | "effect"> {
  if (/^\d{3}$/.test(text)) return { status: Number(text) };
  const effects = [...faultEffects, ...answerEncodings];
  const effect = effects.find((known) => known === text);
  if (effect !== undefined) return { effect };
  throw new RangeError(`"${text}" is not a status and not one of ${effects.join(", ")}`);
}

function parseAmount(text: string): Pick<Fault, "times" | "share"> {
  const [, number, percent] = /^(\d{1,9}(?:\.\d{1,6})?)(%?)$/.exec(text) ?? [];
  if (number === undefined) throw new RangeError(`"${text}" is not a count or a share: write 3, or 10%`);
  return percent === "%" ? { share: Number(number) / 100 } : { times: Number(number) };
}

const command = new Command("sandbox")
  .description("Runs the income-data service on this machine until Ctrl-C.")
  .addOption(
    new Option("--interface <version>", "version of the provider's interface")
      .choices(providerInterfaces)
      .default("0.4"),
  )
  .option("--port <port>", "port of the sandbox environment; 0 takes any free port", port, 0)
  .option("--production-port <port>", "port of the production environment", port, 0)
  .option("--control-port <port>", "port of the control address", port, 0)
  .option("--no-control", "do not serve the control address")
  .option(
    "--directory <path>",
    "keep users, tokens and deliveries there, and continue with them after a restart",
  )
  .option(
    "--users <number>",
    "create users with connected accounts in the sandbox environment",
    wholeNumber(0),
    0,
  )
  .option("--seed <number>", "seed of the generated ids and data", wholeNumber(0), 1)
  .option("--token-lifetime <seconds>", "lifetime of a token", wholeNumber(0), 3600)
  .option("--refresh-ends-token", "a refresh revokes the token that it was called with")
  .option("--no-account-alert", "do not send an event when an account is created")
  .option(
    "--requests-per-minute <number>",
    "answer calls over this rate with 429 (default: no limit)",
    wholeNumber(0),
  )
  .addOption(
    new Option("--retry-after <form>", "format of Retry-After").choices(retryAfterForms).default("seconds"),
  )
  .option(
    "--page-size <items>",
    "maximum items of a list in one answer; the rest follows in pages",
    wholeNumber(1),
  )
  .option(
    "--fault <fault>",
    `make calls of the sandbox environment fail: ${faultFlagForm}; repeatable`,
    collectFaults,
    undefined,
  )
  .option(
    "--first-retry <milliseconds>",
    "wait before the first retry of a failed delivery",
    wholeNumber(0),
    30_000,
  )
  .option("--operator-name <name>", "operator's name in the connection flow; required in production")
  .option("--logo <file>", "PNG, JPEG or SVG image in the connection flow; required in production")
  .option("--accent-color <#rrggbb>", "color of the connection flow; required in production")
  .addHelpText(
    "after",
    `
Examples:
  npm run sandbox -- --port 4010 --users 20
  npm run sandbox -- --port 4010 --directory .local/sandbox      keep the state between starts
  npm run sandbox -- --interface 0.5                             the newer interface
  npm run sandbox -- --token-lifetime 60 --refresh-ends-token    tokens that expire soon
  npm run sandbox -- --fault 429:10% --fault hang:3:/users       10 % of the calls answer 429, three of /users hang

Effects of a fault: ${[...faultEffects, ...answerEncodings].join(", ")}.
The control address injects more faults while the sandbox runs: docs/guide/sandbox.md.`,
  )
  .action(run);

async function run({ fault: faults = [], users, ...flags }: Flags): Promise<void> {
  const sandbox = await startSandbox(await optionsOf(flags));
  const stop = () => void sandbox.close();
  // Handles repeated signals: Ctrl-C reaches this process directly and again through npm.
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  for (const fault of faults) sandbox.fault(fault);
  if (users > 0) await sandbox.createUsers(users);
  const ready = {
    sandbox: addressOf(sandbox),
    ...(sandbox.production && { production: addressOf(sandbox.production) }),
    ...(sandbox.control && { control: sandbox.control }),
  };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}

async function optionsOf(flags: Omit<Flags, "fault" | "users">): Promise<SandboxOptions> {
  const { control, controlPort, tokenLifetime, accountAlert, firstRetry, ...others } = flags;
  const { operatorName: name, logo, accentColor, ...options } = others;
  return {
    ...options,
    tokenLifetimeSeconds: tokenLifetime,
    alertOnAccountCreation: accountAlert,
    // Long enough to be visible on the page.
    signInDurationMs: 1000,
    delivery: { firstRetryMs: firstRetry },
    controlPort: control ? controlPort : undefined,
    branding: { name, accentColor, logo: logo && (await readLogo(logo)) },
  };
}

const imageTypes: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".svg": "image/svg+xml",
};

async function readLogo(file: string): Promise<string> {
  const type = imageTypes[extname(file).toLowerCase()];
  if (type === undefined) throw new Error(`--logo ${file}: expected a .png, .jpg or .svg file`);
  return `data:${type};base64,${await readFile(file, "base64")}`;
}

function addressOf({ baseUrl, token }: { readonly baseUrl: string; readonly token: string }) {
  return { baseUrl, token };
}

function collectFaults(text: string, given: readonly Fault[] = []): readonly Fault[] {
  try {
    const fault = parseFaultFlag(text);
    createFaults().add(fault);
    return [...given, fault];
  } catch (error) {
    throw new InvalidArgumentError(explain(error));
  }
}

function explain(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
    return `the port is in use (${error.message}): choose another one, or 0 for a free one`;
  }
  return error instanceof Error ? error.message : String(error);
}

try {
  await command.parseAsync();
} catch (error) {
  process.stderr.write(`sandbox: ${explain(error)}\n`);
  process.exitCode = 1;
}
