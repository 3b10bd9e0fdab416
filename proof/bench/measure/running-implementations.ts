import type { Assemblies } from "../assemblies.ts";
import { type RunningImplementation, startImplementation } from "../drive/running-implementation.ts";
import { type Implementation, implementations, titles } from "../implementations.ts";
import { type BenchProvider, startProvider } from "../provider.ts";

/** A side and the provider that it alone calls. */
export type Contender = { readonly running: RunningImplementation; readonly provider: BenchProvider };

export type RunningImplementations = AsyncDisposable & {
  readonly contenders: readonly Contender[];
  readonly of: (implementation: Implementation) => Contender;
};

/** Starts implementations beside each other, each with engines of its own. */
export async function startImplementations(
  assemblies: Assemblies,
  onProgress: (step: string) => void,
  which: readonly Implementation[] = implementations,
): Promise<RunningImplementations> {
  await using starting = new AsyncDisposableStack();
  const contenders = new Map<Implementation, Contender>();
  for (const implementation of which) {
    onProgress(`starting ${titles[implementation]}`);
    const provider = starting.use(await startProvider());
    const running = starting.use(await startImplementation(implementation, provider, { assemblies }));
    contenders.set(implementation, { running, provider });
  }
  const cleanup = starting.move();
  return {
    contenders: [...contenders.values()],
    of: (implementation) => {
      const found = contenders.get(implementation);
      if (found === undefined) throw new Error(`${implementation} is not running`);
      return found;
    },
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  };
}
