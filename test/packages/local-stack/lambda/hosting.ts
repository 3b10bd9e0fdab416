import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FunctionPlan } from "@income-events/local-stack/assembly/plan.ts";
import {
  type HostedFunction,
  type HostOptions,
  hostFunction,
} from "@income-events/local-stack/lambda/hosted-function.ts";
import { functionPlan } from "./scripted-function.ts";

export type Hosted = AsyncDisposable & { readonly host: HostedFunction; readonly lines: readonly string[] };

/** Hosts a function with this text as `index.mjs`. */
export async function hosted(
  source: string,
  plan: Partial<FunctionPlan> = {},
  options: Partial<Pick<HostOptions, "account" | "maximumProcesses" | "shortestImport">> = {},
): Promise<Hosted> {
  const directory = await mkdtemp(join(tmpdir(), "function-"));
  await writeFile(join(directory, "index.mjs"), source);
  const lines: string[] = [];
  const host = hostFunction(functionPlan({ directory, ...plan }), {
    environmentOf: ({ environment }) => ({ ...environment, PATH: "/usr/bin" }),
    onLine: (line) => lines.push(line),
    maximumProcesses: 2,
    ...options,
  });
  return {
    host,
    lines,
    [Symbol.asyncDispose]: async () => {
      await host.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * The function's parsed answer.
 * @throws Error if it did not return
 */
export async function answerOf(host: HostedFunction, event: unknown = {}): Promise<unknown> {
  const outcome = await host.invoke(JSON.stringify(event));
  if (outcome.kind !== "returned") throw new Error(JSON.stringify(outcome));
  return JSON.parse(outcome.payload);
}
