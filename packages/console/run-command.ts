import { setTimeout as sleep } from "node:timers/promises";
import type { Operation } from "@income-events/cli/core/command.ts";
import { CommandError } from "@income-events/cli/core/command-error.ts";
import type { Terminal } from "@income-events/cli/core/terminal.ts";

export type RunOptions = {
  /** Replaces standard input. */
  readonly input?: string;
  /** Whether the user has already confirmed on the page. */
  readonly isAgreed?: boolean;
  readonly onProgress?: (text: string) => void;
};

/** A command's output, as with `--json`; `problem` is set if it failed nevertheless. */
export type CommandOutcome = Readonly<Record<string, unknown>> & { readonly problem?: string };

/**
 * Runs a command's function with a terminal that collects its output.
 * @throws the command's error if it has no result, or if it needs a consent that was not given
 */
export async function runCommand(
  operation: Operation,
  run: (operation: Operation) => Promise<void>,
  { input = "", isAgreed = false, onProgress = () => undefined }: RunOptions = {},
): Promise<CommandOutcome> {
  let result: object | undefined;
  const keep = (data: object) => {
    result = data;
  };
  const terminal: Terminal = {
    result: keep,
    redraw: keep,
    paint: (_, text) => text,
    progress: onProgress,
    wait: async (seconds, what) => {
      onProgress(`${what}: ${Math.ceil(seconds)} s`);
      await sleep(seconds * 1000);
    },
    confirm: async (consequence) => {
      if (isAgreed) return;
      throw CommandError.usage(typeof consequence === "string" ? consequence : await consequence());
    },
    readInput: async () => input,
  };
  try {
    await run({ ...operation, terminal });
  } catch (error) {
    if (result === undefined || !(error instanceof CommandError)) throw error;
    return { ...result, problem: error.message };
  }
  return { ...result };
}
