import type { Exchange } from "@income-events/local-stack/api/http-api.ts";
import type { StartOptions } from "@income-events/local-stack/options.ts";
import { type Progress, type System, startSystem } from "@income-events/local-stack/system.ts";
import type { SandboxOptions } from "@income-events/sandbox/server.ts";
import { inject } from "vitest";
import { fieldsOf, textOf } from "../../domain/core/parse.ts";
import { fastEngine, shortPollMs } from "./engines.ts";
import { ProductAssembly } from "./product-assembly.ts";

/** The synthesized product, running with a sandbox. */
export type RunningProduct = AsyncDisposable & { readonly system: System };

export type RunnerOptions = Pick<
  StartOptions,
  "deduplicationSeconds" | "streamRetentionSeconds" | "logs" | "keep" | "alarmClock" | "maximumProcesses"
> & {
  /** Called for each request to the webhooks' API and its answer. */
  readonly onAnswered?: (exchange: Exchange) => void;
  /** Called for each step and alarm. */
  readonly onProgress?: Progress;
  /** Changes the assembly before it runs, to break it on purpose. */
  readonly change?: (product: ProductAssembly) => Promise<void>;
};

/** @param changes settings that replace the stage's, by group */
export async function startProduct(
  stage: string,
  changes: object = {},
  sandbox: SandboxOptions = {},
  { onAnswered = () => undefined, onProgress = () => undefined, change, ...runner }: RunnerOptions = {},
): Promise<RunningProduct> {
  const [product, engine] = await Promise.all([synthesizeProduct(stage, changes), fastEngine()]);
  await change?.(product);
  const ports = { apiPort: 0, awsPort: 0, sandboxPort: 0, controlPort: 0 };
  // Starting a second process of a function takes longer than waiting for the first.
  const own = { once: true, users: 0, stage, engine, shortPollMs, maximumProcesses: 1 };
  const options = { ...own, assembly: product.directory, ...ports, ...runner };
  const system = await startSystem(
    options,
    sandbox,
    { progress: onProgress, notice: onProgress },
    onAnswered,
  );
  return {
    system,
    [Symbol.asyncDispose]: async () => {
      await system.close();
      await product[Symbol.asyncDispose]();
    },
  };
}

/**
 * Synthesizes the product as `synthesizeProduct` of product-assembly.ts does, but once for all files
 * of the run.
 * @param changes settings that replace the stage's, by group; a stage without a file uses the settings of
 * `local`
 * @returns a copy that the test may change
 */
export async function synthesizeProduct(stage = "local", changes: object = {}): Promise<ProductAssembly> {
  const body = JSON.stringify({ stage, changes });
  const answer = await fetch(inject("assemblyHost"), { method: "POST", body });
  const fields = fieldsOf(await answer.json(), "the answer of the assemblies' host");
  if (!answer.ok) throw new Error(textOf(fields, "error"));
  return new ProductAssembly(textOf(fields, "directory")).copy();
}
