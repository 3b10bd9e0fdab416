import { type AssembleOptions, type Assembly, assemble } from "./assemble.ts";
import type { Implementation } from "./implementations.ts";

/** Synthesized stacks, each made when it is first asked for, and kept until the end: several rows use the same. */
export type Assemblies = Disposable & {
  readonly of: (implementation: Implementation, options: AssembleOptions) => Assembly;
};

export function createAssemblies(): Assemblies {
  const made = new Map<string, Assembly>();
  const cleanup = new DisposableStack();
  return {
    of: (implementation, options) => {
      const key = `${implementation} ${options.hasEventSources} ${options.isInline ?? false}`;
      const known = made.get(key);
      if (known !== undefined) return known;
      const assembly = cleanup.use(assemble(implementation, options));
      made.set(key, assembly);
      return assembly;
    },
    [Symbol.dispose]: () => cleanup.dispose(),
  };
}
