import type { Exchange } from "@income-events/local-stack/api/http-api.ts";
import type { StartOptions } from "@income-events/local-stack/options.ts";
import { type Progress, type System, startSystem } from "@income-events/local-stack/system.ts";
import type { SandboxOptions } from "@income-events/sandbox/server.ts";
import type { ProductAssembly } from "../../scripts/product-assembly.ts";
import { fastEngine } from "./engines.ts";
import { synthesizeProduct } from "./product.ts";

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
  const options = { once: true, users: 0, stage, engine, assembly: product.directory, ...ports, ...runner };
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
