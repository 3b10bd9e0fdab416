import type { Exchange } from "../../local/api/http-api.ts";
import type { StartOptions } from "../../local/options.ts";
import { type System, startSystem } from "../../local/system.ts";
import type { SandboxOptions } from "../../sandbox/server.ts";
import { synthesizeProduct } from "./product-assembly.ts";

/** The product as it was synthesized, running beside a sandbox. */
export type RunningProduct = AsyncDisposable & { readonly system: System };

export type RunnerOptions = Pick<StartOptions, "streamRetentionSeconds"> & {
  /** Is told of each request to the webhooks' API and its answer. */
  readonly onAnswered?: (exchange: Exchange) => void;
};

/** @param changes settings in the place of the stage's, group by group */
export async function startProduct(
  stage: string,
  changes: object = {},
  sandbox: SandboxOptions = {},
  { onAnswered = () => undefined, ...runner }: RunnerOptions = {},
): Promise<RunningProduct> {
  const product = await synthesizeProduct(stage, changes);
  const ports = { apiPort: 0, awsPort: 0, sandboxPort: 0 };
  const options = { once: true, users: 0, stage, assembly: product.directory, ...ports, ...runner };
  const system = await startSystem(options, sandbox, () => undefined, onAnswered);
  return {
    system,
    [Symbol.asyncDispose]: async () => {
      await system.close();
      await product[Symbol.asyncDispose]();
    },
  };
}
