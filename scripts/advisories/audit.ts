import { execFile } from "node:child_process";
import { join } from "node:path";
import { z } from "zod";

const audit = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({ severity: z.string(), range: z.string().default(""), isDirect: z.boolean().default(false) }),
  ),
});

/** What the registry says of what is locked: a line for each package, or why it says nothing. */
export type Audit =
  | { readonly answered: true; readonly lines: readonly string[] }
  | { readonly answered: false; readonly why: string };

/** Asks the registry that npm is set to. */
export function askRegistry(): Promise<Audit> {
  const directory = join(import.meta.dirname, "../..");
  return new Promise((resolve) => {
    execFile(
      "npm",
      ["audit", "--json", "--package-lock-only"],
      { cwd: directory, maxBuffer: 67_108_864 },
      (_, stdout) => resolve(readAudit(stdout)),
    );
  });
}

/** Reads what `npm audit --json` wrote. */
export function readAudit(text: string): Audit {
  const answer = audit.safeParse(parsed(text));
  if (!answer.success) return { answered: false, why: messageIn(text) };
  const lines = Object.entries(answer.data.vulnerabilities).map(
    ([name, { severity, range }]) => `${name} ${range}: ${severity}`,
  );
  return { answered: true, lines };
}

function messageIn(text: string): string {
  const found = z.object({ message: z.string() }).safeParse(parsed(text));
  return found.success ? found.data.message : "it gave no answer";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
