import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";

const repository = join(import.meta.dirname, "..", "..");

export type CommandResult = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Of `--json`. */
  readonly json: () => unknown;
};

export type CommandOptions = {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Its file below packages/cli/. */
  readonly program?: string;
};

/** What every command finds in its environment: nothing of AWS, and the systems that this test file has started. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, INCOME_EVENTS_RUNNING } = process.env;
  // An empty home has no profile, and the service that reports virtual machines their role is not asked.
  return { PATH, INCOME_EVENTS_RUNNING, HOME: "/nowhere", AWS_EC2_METADATA_DISABLED: "true" };
}

/** A command under way. */
export type RunningCommand = {
  readonly ended: Promise<CommandResult>;
  /** As `kill -9` does. */
  readonly kill: () => void;
  /** What it has said so far beside its result. */
  readonly stderr: () => string;
};

/** Runs a command of the command line to its end, with an environment that has nothing of AWS unless it is given. */
export function runCommand(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  return startCommand(args, options).ended;
}

/** Starts a command as `runCommand` does. */
export function startCommand(
  args: readonly string[],
  { input = "", env = {}, program = "main.ts" }: CommandOptions = {},
): RunningCommand {
  const child = spawn(process.execPath, [join(repository, "packages", "cli", program), ...args], {
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

/** The arguments with which `npx` or `aws` is called where a shell runs a command. @throws where another is called */
export function shellWords(command: string): readonly string[] {
  const program = `npx() { printf '%s\\0' "$@"; }; aws() { npx "$@"; }; PATH=; ${command}`;
  return execFileSync("/bin/sh", ["-c", program], { encoding: "utf8" }).split("\0").slice(0, -1);
}
