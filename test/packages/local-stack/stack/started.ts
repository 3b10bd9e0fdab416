import { type LocalStack, type StackOptions, startStack } from "@income-events/local-stack/stack.ts";
import { type AssemblySource, writeAssembly } from "../../../support/assembly.ts";

type Running = AsyncDisposable & { readonly stack: LocalStack };

export async function started(source: AssemblySource, options: Partial<StackOptions> = {}): Promise<Running> {
  const assembly = await writeAssembly(source);
  const stack = await startStack({ assembly: assembly.directory, ...options }).catch(
    async (error: unknown) => {
      await assembly[Symbol.asyncDispose]();
      throw error;
    },
  );
  return {
    stack,
    [Symbol.asyncDispose]: async () => {
      await stack.close();
      await assembly[Symbol.asyncDispose]();
    },
  };
}
