import { createServer, type ServerResponse } from "node:http";
import {
  type DynamoDbEngine,
  type RunningDynamoDb,
  startDynamoDb,
} from "@income-events/local-stack/engines/dynamodb.ts";
import { closeServer, listen } from "@income-events/local-stack/http-server.ts";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** URL where `GET /<engine>` returns `{url}` or `{missing: reason}`; starts the engine on first use. */
    tableEngineHost: string;
  }
}

/** Vitest's global setup: one engine of each kind per run, on demand. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<DynamoDbEngine, Promise<RunningDynamoDb>>();
  const engineOf = (name: DynamoDbEngine) => {
    const known = started.get(name);
    if (known !== undefined) return known;
    const starting = startDynamoDb({ engine: name });
    starting.catch((error: unknown) => {
      process.stderr.write(`\nTests on ${name} can't run: ${messageOf(error)}\n`);
    });
    started.set(name, starting);
    return starting;
  };
  const server = createServer((request, response) => {
    const name = request.url === "/dynoxide" ? "dynoxide" : "dynamodb-local";
    engineOf(name).then(
      ({ url }) => answer(response, 200, { url }),
      (error: unknown) => answer(response, isMissing(error) ? 200 : 500, { missing: messageOf(error) }),
    );
  });
  const port = await listen(server);
  project.provide("tableEngineHost", `http://127.0.0.1:${port}`);
  return async () => {
    await closeServer(server);
    await Promise.all([...started.values()].map(close));
  };
}

function answer(response: ServerResponse, status: number, content: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(content));
}

/**
 * Distinguishes an engine that is not installed from one that fails to start: only the first may be skipped.
 */
function isMissing(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("No engine for the table");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function close(starting: Promise<RunningDynamoDb>): Promise<void> {
  const running = await starting.catch(() => undefined);
  await running?.close();
}
