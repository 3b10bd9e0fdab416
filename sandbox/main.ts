import { Command, InvalidArgumentError } from "commander";
import { startSandbox } from "./server.ts";

const command = new Command("sandbox")
  .description("Runs the income-data service on this machine until Ctrl-C.")
  .option("--port <port>", "where the sandbox environment listens (0: a free port)", parsePort, 0)
  .option("--seed <number>", "ids and data follow from it", parseWhole, 1)
  .option("--token-lifetime <seconds>", "how long tokens are valid", parseWhole, 3600)
  .option("--requests-per-minute <number>", "answer 429 over this rate (default: no limit)", parseWhole)
  .action(run);

async function run(options: {
  port: number;
  seed: number;
  tokenLifetime: number;
  requestsPerMinute?: number;
}): Promise<void> {
  const { port, seed, tokenLifetime, requestsPerMinute } = options;
  const limit = requestsPerMinute === undefined ? {} : { requestsPerMinute };
  const sandbox = await startSandbox({ port, seed, tokenLifetimeSeconds: tokenLifetime, ...limit });
  const stop = () => void sandbox.close();
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  const { baseUrl, token } = sandbox;
  process.stdout.write(`${JSON.stringify({ sandbox: { baseUrl, token } })}\n`);
}

function parsePort(text: string): number {
  const port = parseWhole(text);
  if (port > 65_535) throw new InvalidArgumentError("expected a port from 0 to 65535.");
  return port;
}

function parseWhole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("expected a whole number.");
  return Number(text);
}

function explain(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
    return "the port is in use: choose another with --port, or 0 for a free one";
  }
  return error instanceof Error ? error.message : String(error);
}

try {
  await command.parseAsync();
} catch (error) {
  process.stderr.write(`sandbox: ${explain(error)}\n`);
  process.exitCode = 1;
}
