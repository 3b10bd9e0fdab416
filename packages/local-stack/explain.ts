import type { RunningSystem } from "./announce.ts";

/**
 * A start that failed, in words that say what to do.
 * @param running systems that stay up on this machine
 */
export function explain(error: unknown, running: readonly RunningSystem[] = []): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE" || /^Port \d+ is in use/.test(error.message)) {
    return [error.message, ...portsRemedy(running)].join("\n");
  }
  if (code === "EACCES" && /listen/.test(error.message)) {
    return `This port is not free for you to use (${error.message}): choose one above 1023, or 0 for a free one.`;
  }
  if (code === "ENOSPC") {
    return `The disk is full (${error.message}).\nFree some space where the temporary directory and the JSON file are.`;
  }
  return error.message;
}

function portsRemedy(running: readonly RunningSystem[]): readonly string[] {
  if (running.length === 0) {
    return [
      "End the program that uses it, or choose others with --api-port, --aws-port, --sandbox-port and --control-port.",
    ];
  }
  const systems = running.map(
    ({ stack, pid, endpoint }) => `  ${stack}: process ${pid}, AWS endpoint ${endpoint}`,
  );
  return [
    "On this machine run already:",
    ...systems,
    "Use what runs, end it (Ctrl-C where it was started), or start another one beside it, on free ports:",
    "  npm start -- --api-port 0 --aws-port 0 --sandbox-port 0 --control-port 0",
  ];
}
