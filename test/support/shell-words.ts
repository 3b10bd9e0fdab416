import { execFileSync } from "node:child_process";

/** The arguments with which `npx` or `aws` is called where a shell runs a command. @throws where another is called */
export function shellWords(command: string): readonly string[] {
  const program = `npx() { printf '%s\\0' "$@"; }; aws() { npx "$@"; }; PATH=; ${command}`;
  return execFileSync("/bin/sh", ["-c", program], { encoding: "utf8" }).split("\0").slice(0, -1);
}
