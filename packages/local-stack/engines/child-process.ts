import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export type EngineCommand = {
  /** A path, or a name that is looked up in the environment's PATH. */
  readonly file: string;
  readonly arguments: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** An engine in a process of its own that can't outlive this one. */
export type EngineProcess = {
  /** Resolves with what it said last when it ended by itself or was stopped. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
};

/**
 * Keeps the engine from outliving us, even when we are killed with SIGKILL: the shell's `read` returns when the
 * pipe to us closes, whoever closed it. A trap: `cat` in its place would itself be left behind.
 */
const watchdog = [
  "exec 3<&0",
  '"$@" </dev/null 3<&- &',
  "engine=$!",
  "( read -r _ <&3; kill -KILL $engine ) >/dev/null 2>&1 &",
  "reader=$!",
  "wait $engine",
  "code=$?",
  "kill $reader 2>/dev/null",
  "exit $code",
].join("\n");

const lastWordsInCharacters = 2000;

/**
 * Starts a command under the watchdog. It has a process group of its own, so that Ctrl-C in the terminal reaches
 * us first and we decide the order in which things stop.
 */
export function startEngineProcess(command: EngineCommand): EngineProcess {
  const child = spawn("/bin/sh", ["-c", watchdog, "engine", command.file, ...command.arguments], {
    cwd: command.directory,
    env: { ...command.environment },
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const lastWords = collectLastWords(child);
  const ended = once(child, "close").then(
    () => lastWords(),
    (error: unknown) => String(error),
  );
  // The pipe's only use is to be closed; its end may be gone before we write to it.
  child.stdin.on("error", () => undefined);
  return {
    ended,
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

function collectLastWords(child: ChildProcess): () => string {
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      text = (text + chunk).slice(-lastWordsInCharacters);
    });
  }
  return () => text.trim();
}
