import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export type SubscriberProgram = {
  readonly name: string;
  /** Path relative to the working directory. */
  readonly program: string;
};

/** Removed so that the program uses the local credentials even if the operator is logged in to an account. */
const ofAccounts = ["AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"];

/**
 * Runs a subscriber's program on its queue, and restarts it when one of its files changes.
 * @param env its address, credentials and queue
 * @param say called with each line of output
 * @returns ends it
 */
export function runSubscriber(
  { name, program }: SubscriberProgram,
  env: Readonly<Record<string, string>>,
  say: (line: string) => void,
): () => Promise<void> {
  const { NODE_OPTIONS: _, ...inherited } = process.env;
  for (const variable of ofAccounts) delete inherited[variable];
  const child = spawn(process.execPath, ["--watch", "--watch-preserve-output", program], {
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on("line", (line) => say(`${name} | ${line}`));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return async () => {
    child.kill("SIGTERM");
    await ended;
  };
}
