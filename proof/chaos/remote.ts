import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Methods of another process; the caller awaits each. */
type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

type Question = { readonly id: number; readonly name: string; readonly args: never[] };
type Reply<Result> = { readonly id: number; readonly result: Result; readonly error?: string };

/** A child process with methods. */
export type Remote<M extends Methods> = AsyncDisposable & {
  call<Name extends keyof M & string>(
    name: Name,
    ...args: Parameters<M[Name]>
  ): Promise<Awaited<ReturnType<M[Name]>>>;
};

/** Starts a process that calls `serve` with these methods. It ends with this one. */
export function startRemote<M extends Methods>(file: URL, args: readonly string[]): Remote<M> {
  const child: ChildProcess = fork(fileURLToPath(file), [...args], { serialization: "advanced" });
  const waiting = new Map<number, (reply: Reply<never>) => void>();
  const unanswered = new Set<(error: Error) => void>();
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let last = 0;
  child.on("message", (reply: Reply<never>) => {
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  void exited.then(() => {
    for (const reject of unanswered) reject(new Error(`The process ${file.pathname} has ended`));
  });
  return {
    call: (name, ...args) =>
      new Promise((resolve, reject) => {
        last += 1;
        unanswered.add(reject);
        waiting.set(last, ({ result, error }: Reply<Awaited<ReturnType<M[typeof name]>>>) => {
          unanswered.delete(reject);
          if (error === undefined) resolve(result);
          else reject(new Error(error));
        });
        child.send({ id: last, name, args });
      }),
    [Symbol.asyncDispose]: async () => {
      child.disconnect();
      await exited;
    },
  };
}

/** Serves methods to the parent process until it ends. */
export function serve(methods: Methods, close: () => Promise<void>): void {
  process.on("message", async ({ id, name, args }: Question) => {
    try {
      const result = await methods[name]?.(...args);
      process.send?.({ id, result });
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? error.message : String(error) });
    }
  });
  process.on("disconnect", () => void close().finally(() => process.exit(0)));
  // Ctrl-C reaches every process of the group; the parent ends this one in turn.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
}
