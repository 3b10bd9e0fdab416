import type { SandboxOptions } from "@income-events/sandbox/server.ts";
import { type Answer, checkAnswer, registerAll, sandboxFor, startReceiver } from "./support.ts";

export async function benchFor(options: SandboxOptions = {}) {
  const sandbox = await sandboxFor({ controlPort: 0, ...options });
  const description: unknown = await (await fetch(`${sandbox.control}/openapi.json`)).json();
  const send = async (method: string, path: string, json?: unknown): Promise<Answer> => {
    const response = await fetch(`${sandbox.control}${path}`, {
      method,
      ...(json === undefined
        ? {}
        : { body: JSON.stringify(json), headers: { "content-type": "application/json" } }),
    });
    const body: unknown = await response.json();
    checkAnswer(description, { method, path, status: response.status, body });
    return { status: response.status, headers: response.headers, body };
  };
  return { sandbox, send };
}

/** Like `benchFor`, with a receiver of all webhooks. */
export async function receivingBench(options?: SandboxOptions, answer?: Parameters<typeof startReceiver>[0]) {
  const { url, received } = await startReceiver(answer);
  const bench = await benchFor(options);
  await registerAll(bench.sandbox, url);
  return { ...bench, received };
}
