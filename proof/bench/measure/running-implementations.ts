import type { Assemblies } from "../assemblies.ts";
import { type RunningSide, startSide } from "../drive/running-implementation.ts";
import { type Side, sides, titles } from "../implementations.ts";
import { type BenchProvider, startProvider } from "../provider.ts";

/** A side and the provider that it alone calls. */
export type Contender = { readonly running: RunningSide; readonly provider: BenchProvider };

export type RunningSides = AsyncDisposable & {
  readonly contenders: readonly Contender[];
  readonly of: (side: Side) => Contender;
};

/** Starts sides beside each other, each with engines of its own. */
export async function startSides(
  assemblies: Assemblies,
  onProgress: (step: string) => void,
  which: readonly Side[] = sides,
): Promise<RunningSides> {
  await using starting = new AsyncDisposableStack();
  const contenders = new Map<Side, Contender>();
  for (const side of which) {
    onProgress(`starting ${titles[side]}`);
    const provider = starting.use(await startProvider());
    const running = starting.use(await startSide(side, provider, { assemblies }));
    contenders.set(side, { running, provider });
  }
  const cleanup = starting.move();
  return {
    contenders: [...contenders.values()],
    of: (side) => {
      const found = contenders.get(side);
      if (found === undefined) throw new Error(`${side} is not running`);
      return found;
    },
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  };
}
