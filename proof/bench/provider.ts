import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A provider that answers at once: what is measured is who calls it. */
export type BenchProvider = AsyncDisposable & {
  readonly baseUrl: string;
  readonly calls: () => number;
  /** How often it began to answer when it had nothing to answer: calls at the same time are one. */
  readonly rounds: () => number;
};

/** What it answers, and how fast: as it is at each request. */
export type Answers = { items: number; delayInMillis: number };

/** A document of so many items, as it answers. */
export const documentOf = (items: number) =>
  JSON.stringify({
    data: Array.from({ length: items }, (_, month) => ({
      month: `2026-0${month + 1}`,
      gross: 4_250.25,
      net: 3_120.75,
      currency: "USD",
      hours: 160,
    })),
  });

const usual: Answers = { items: 5, delayInMillis: 0 };
/** What it answers by default. */
export const usualDocument = documentOf(usual.items);

/** An answer in the place of data, given by the milliseconds since the first call; undefined: data. */
export type Fault = { readonly status: number; readonly headers?: Readonly<Record<string, string>> };
export type FaultAt = (millis: number) => Fault | undefined;

export async function startProvider(
  faultAt: FaultAt = () => undefined,
  answers: Answers = usual,
): Promise<BenchProvider> {
  let calls = 0;
  let rounds = 0;
  let answering = 0;
  let began: number | undefined;
  const server = createServer((request, response) => {
    calls += 1;
    if (answering === 0) rounds += 1;
    answering += 1;
    response.on("close", () => {
      answering -= 1;
    });
    began ??= performance.now();
    const fault = faultAt(performance.now() - began);
    request.resume().on("end", async () => {
      if (answers.delayInMillis > 0) await sleep(answers.delayInMillis);
      const isStart = request.method === "POST";
      const body = isStart || fault !== undefined ? "{}" : documentOf(answers.items);
      response.writeHead(fault?.status ?? (isStart ? 202 : 200), {
        ...fault?.headers,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
      });
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    calls: () => calls,
    rounds: () => rounds,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
