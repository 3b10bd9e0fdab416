import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export type EngineCommand = {
  /** A path, or a name to look up in PATH. */
  readonly file: string;
  readonly arguments: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export type EngineProcess = ReturnType<typeof startEngineProcess>;

/**
 * Ends the engine when this process ends, even by SIGKILL: the shell's `read` returns when the pipe closes.
 * `cat` in its place would survive.
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
 * Starts a command under the watchdog. It has its own process group, so that Ctrl-C reaches only this
 * process, which decides the order of shutdown.
 */
export function startEngineProcess(command: EngineCommand) {
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
  // The pipe may close before anything is written to it.
  child.stdin.on("error", () => undefined);
  return {
    /** Resolves with the process's last output when it ends. */
    ended,
    stop: async (): Promise<void> => {
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
