import type { Exchange } from "@income-events/local-stack/api/http-api.ts";
import type { StartOptions } from "@income-events/local-stack/options.ts";
import { type Progress, type System, startSystem } from "@income-events/local-stack/system.ts";
import type { SandboxOptions } from "@income-events/sandbox/server.ts";
import { inject } from "vitest";
import { fieldsOf, textOf } from "../../domain/core/parse.ts";
import { type ProductAssembly, productAssembly } from "../../scripts/product-assembly.ts";
import { fastEngine, shortPollMs } from "./engines.ts";

/** The product as it was synthesized, running beside a sandbox. */
export type RunningProduct = AsyncDisposable & { readonly system: System };

export type RunnerOptions = Pick<
  StartOptions,
  "deduplicationSeconds" | "streamRetentionSeconds" | "logs" | "keep" | "alarmClock"
> & {
  /** Is called for each request to the webhooks' API and its answer. */
  readonly onAnswered?: (exchange: Exchange) => void;
  /** Is called for each step and of alarms. */
  readonly onProgress?: Progress;
  /** Changes what was synthesized before it runs, as a careless hand would. */
  readonly change?: (product: ProductAssembly) => Promise<void>;
};

/** @param changes settings in the place of the stage's, group by group */
export async function startProduct(
  stage: string,
  changes: object = {},
  sandbox: SandboxOptions = {},
  { onAnswered = () => undefined, onProgress = () => undefined, change, ...runner }: RunnerOptions = {},
): Promise<RunningProduct> {
  const [product, engine] = await Promise.all([synthesizeProduct(stage, changes), fastEngine()]);
  await change?.(product);
  const ports = { apiPort: 0, awsPort: 0, sandboxPort: 0, controlPort: 0 };
  const own = { once: true, users: 0, stage, engine, shortPollMs, assembly: product.directory };
  const options = { ...own, ...ports, ...runner };
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
 * The product's own stack, as `synthesizeProduct` of scripts/product-assembly.ts makes it, but synthesized once for all
 * files of the run.
 * @param changes settings in the place of the stage's, group by group; a stage without a file is as `local` is
 * @returns a copy, which the test may change
 */
export async function synthesizeProduct(stage = "local", changes: object = {}): Promise<ProductAssembly> {
  const body = JSON.stringify({ stage, changes });
  const answer = await fetch(inject("assemblyHost"), { method: "POST", body });
  const fields = fieldsOf(await answer.json(), "the answer of the assemblies' host");
  if (!answer.ok) throw new Error(textOf(fields, "error"));
  return productAssembly(textOf(fields, "directory")).copy();
}
