import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { createProgram, runProgram } from "../../../packages/cli/program.ts";
import { must, type Target } from "../target.ts";

/** Outputs of a stage that is nowhere: what asks AWS is refused at once, and no real stage is ever met. */
const directory = mkdtempSync(join(tmpdir(), "fuzz-command-line-"));
const outputs = join(directory, "outputs.json");
const names = [
  "TableName",
  "WebhooksUrl",
  "FetchQueueUrl",
  "EraseQueueUrl",
  "BodiesBucketName",
  "UsersQueueUrl",
];
writeFileSync(
  outputs,
  JSON.stringify({
    "income-events-fuzz": {
      TokenSecretArn: "arn:aws:secretsmanager:eu-central-1:000000000000:secret:fuzz",
      ...Object.fromEntries(names.map((name) => [name, "https://fuzz.invalid/fuzz"])),
    },
  }),
);

function prepare(): void {
  process.chdir(directory);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: "http://127.0.0.1:1",
    AWS_ACCESS_KEY_ID: "fuzz",
    AWS_SECRET_ACCESS_KEY: "fuzz",
    AWS_MAX_ATTEMPTS: "1",
  });
}

/** An argument a line. */
async function check(input: Uint8Array): Promise<void> {
  prepare();
  const args = Buffer.from(input).toString("utf8").split("\n");
  const program = (await createProgram(args)).hook("preAction", (_, command: Command) => {
    if (!command.options.some(({ long }) => long === "--outputs")) return;
    command.setOptionValue("outputs", outputs);
    command.setOptionValue("stage", undefined);
  });
  const { exitCode, errors } = await listening(() => runProgram(args, program));
  must([0, 1, 2, 3].includes(exitCode), `exit code ${exitCode}`);
  must(exitCode === 0 || errors.trim() !== "", "a failure is not reported");
  must(!/^\s+at .+:\d+:\d+\)?$/m.test(errors), `a stack trace is shown:\n${errors}`);
  must(!/^(Type|Reference|Range|Syntax)Error|Cannot read propert|is not a function/m.test(errors), errors);
}

async function listening(run: () => Promise<number>): Promise<{ exitCode: number; errors: string }> {
  const { stdout, stderr } = process;
  const written = [stdout.write, stderr.write] as const;
  let errors = "";
  stdout.write = () => true;
  stderr.write = (text: string | Uint8Array) => {
    errors += String(text);
    return true;
  };
  try {
    return { exitCode: await run(), errors };
  } finally {
    [stdout.write, stderr.write] = written;
  }
}

const lines = (...args: readonly string[]) => args.join("\n");

export const target: Target = {
  promise: "arguments give a command or a refusal in words, with an exit code and without a stack trace",
  seeds: [
    lines("events", "list", "--since", "24h", "--type", "account.*", "--limit", "5"),
    lines("records", "show", "--user", "a", "--json"),
    lines("replay", "--subscriber", "a", "--since", "2026-01-01", "--dry-run"),
    lines("dlq", "redrive", "--reason", "a", "--yes"),
    lines("erase", "user", "a", "--yes"),
    lines("mapping", "try", "-", "--header", "a: b", "--kind", "users"),
    lines("completion", "bash"),
    lines("secret", "rotate", "--help"),
    lines("repair", "--account", "a"),
    lines("__complete", "events", "li"),
  ],
  words: [
    "--",
    "-",
    "--help",
    "--json",
    "--stage",
    "--outputs",
    "__proto__",
    "constructor",
    "\u2028",
    "\u001b[2J",
    "status",
    "doctor",
    "token",
    "restore",
    "subscribers",
  ],
  maxBytes: 256,
  loads: join(import.meta.dirname, "../../../packages/cli/commands"),
  setsOff: ["ssrf"],
  check,
};
