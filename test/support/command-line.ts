import { execFileSync } from "node:child_process";

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
};

/** Environment of every command: without AWS variables, and with only the systems that this test file started. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, INCOME_EVENTS_RUNNING } = process.env;
  // An empty home has no profile, and the EC2 metadata service is disabled.
  return { PATH, INCOME_EVENTS_RUNNING, HOME: "/nowhere", AWS_EC2_METADATA_DISABLED: "true" };
}

/**
 * Arguments of `npx` or `aws` in a shell command.
 * @throws if it calls another program
 */
export function shellWords(command: string): readonly string[] {
  const program = `npx() { printf '%s\\0' "$@"; }; aws() { npx "$@"; }; PATH=; ${command}`;
  return execFileSync("/bin/sh", ["-c", program], { encoding: "utf8" }).split("\0").slice(0, -1);
}
