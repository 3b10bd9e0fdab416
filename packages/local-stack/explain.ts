import type { RunningSystem } from "./announce.ts";
import { startCommand } from "./options.ts";

/**
 * Explains why a start failed and how to fix it.
 * @param running other systems that run on this machine
 */
export function explain(error: unknown, running: readonly RunningSystem[] = []): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE" || /^Port \d+ is in use/.test(error.message)) {
    return [error.message, ...portsRemedy(running)].join("\n");
  }
  if (code === "EACCES" && /listen/.test(error.message)) {
    return `Only an administrator may use this port (${error.message}): choose one above 1023, or 0 for a free one.`;
  }
  if (code === "ENOSPC") {
    return `The disk is full (${error.message}).\nFree some space where the temporary directory and the JSON file are.`;
  }
  return error.message;
}

function portsRemedy(running: readonly RunningSystem[]): readonly string[] {
  if (running.length === 0) {
    return ["End the program that uses it, or start on free ports:", `  ${startCommand} --ports auto`];
  }
  const systems = running.map(
    ({ stack, pid, endpoint }) => `  ${stack}: process ${pid}, AWS endpoint ${endpoint}`,
  );
  return [
    "Already running on this machine:",
    ...systems,
    "Use it, end it (Ctrl-C in its terminal), or start another one beside it on free ports:",
    `  ${startCommand} --ports auto`,
  ];
}
