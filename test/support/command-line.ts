import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";

const repository = join(import.meta.dirname, "..", "..");

export type CommandResult = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Parsed output of `--json`. */
  readonly json: () => unknown;
};

export type CommandOptions = {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Path of the program in the repository. */
  readonly program?: string;
};

/** Environment of every command: without AWS variables, and with only the systems that this test file started. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, INCOME_EVENTS_RUNNING } = process.env;
  // An empty home has no profile, and the EC2 metadata service is disabled.
  return { PATH, INCOME_EVENTS_RUNNING, HOME: "/nowhere", AWS_EC2_METADATA_DISABLED: "true" };
}

export type RunningCommand = {
  readonly ended: Promise<CommandResult>;
  /** Kills with SIGKILL. */
  readonly kill: () => void;
  /** Output to stderr so far. */
  readonly stderr: () => string;
};

/** Runs a command to its end; its environment has no AWS variables unless passed. */
export function runCommand(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  return startCommand(args, options).ended;
}

/** Starts a command with the options of `runCommand`. */
export function startCommand(
  args: readonly string[],
  { input = "", env = {}, program = "packages/cli/main.ts" }: CommandOptions = {},
): RunningCommand {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: repository,
    env: { ...bareEnvironment(), ...env },
  });
  const heard = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    heard.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    heard.stderr += text;
  });
  child.stdin.end(input);
  const ended = new Promise<CommandResult>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, ...heard, json: () => JSON.parse(heard.stdout) }));
  });
  return { ended, kill: () => child.kill("SIGKILL"), stderr: () => heard.stderr };
}

/**
 * Arguments of `npx` or `aws` in a shell command.
 * @throws if it calls another program
 */
export function shellWords(command: string): readonly string[] {
  const program = `npx() { printf '%s\\0' "$@"; }; aws() { npx "$@"; }; PATH=; ${command}`;
  return execFileSync("/bin/sh", ["-c", program], { encoding: "utf8" }).split("\0").slice(0, -1);
}
