import { z } from "zod";
import { until } from "./until.ts";

/** Node's inspector in another process, asked for one thing only. */
export type LiveHeap = Disposable & {
  /** @returns bytes of objects and buffers that are still in use, once the garbage was collected */
  readonly liveBytes: () => Promise<number>;
};

const target = z.object({ webSocketDebuggerUrl: z.url() });
const targets = z.tuple([target]).rest(target);
const answer = z.object({
  id: z.number().optional(),
  result: z
    .object({ usedSize: z.number().default(0), backingStorageSize: z.number().default(0) })
    .default({ usedSize: 0, backingStorageSize: 0 }),
});

/**
 * @param pid of a process of Node
 * @param port that it was started to inspect on (`--inspect-port`)
 * @throws where it does not listen within a minute
 */
export async function openHeap(pid: number, port: number): Promise<LiveHeap> {
  process.kill(pid, "SIGUSR1");
  const socket = new WebSocket(await inspectorAddress(port));
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve, { once: true });
    socket.addEventListener("error", reject, { once: true });
  });
  let asked = 0;
  const ask = (method: string) =>
    new Promise<z.output<typeof answer>["result"]>((resolve, reject) => {
      asked += 1;
      const id = asked;
      const listen = ({ data }: MessageEvent) => {
        const { id: of, result } = answer.parse(JSON.parse(String(data)));
        if (of !== id) return;
        socket.removeEventListener("message", listen);
        resolve(result);
      };
      socket.addEventListener("message", listen);
      socket.addEventListener("close", () => reject(new Error(`process ${pid} has ended`)), { once: true });
      socket.send(JSON.stringify({ id, method }));
    });
  return {
    liveBytes: async () => {
      await ask("HeapProfiler.collectGarbage");
      const { usedSize, backingStorageSize } = await ask("Runtime.getHeapUsage");
      if (usedSize === 0) throw new Error(`process ${pid} does not say what its heap holds`);
      return usedSize + backingStorageSize;
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

function inspectorAddress(port: number): Promise<string> {
  return until(async () => {
    const listed = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => undefined);
    return listed?.ok ? targets.parse(await listed.json())[0].webSocketDebuggerUrl : undefined;
  }, `nothing inspects on port ${port}`);
}
