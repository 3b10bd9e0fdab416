import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A provider that answers at once: what is measured is who calls it. */
export type BenchProvider = AsyncDisposable & {
  readonly baseUrl: string;
  readonly calls: () => number;
};

const document = JSON.stringify({
  data: Array.from({ length: 5 }, (_, month) => ({
    month: `2026-0${month + 1}`,
    gross: 4_250.25,
    net: 3_120.75,
    currency: "USD",
    hours: 160,
  })),
});

/** An answer in the place of data, given by the milliseconds since the first call; undefined: data. */
export type Fault = { readonly status: number; readonly headers?: Readonly<Record<string, string>> };
export type FaultAt = (millis: number) => Fault | undefined;

export async function startProvider(faultAt: FaultAt = () => undefined): Promise<BenchProvider> {
  let calls = 0;
  let began: number | undefined;
  const server = createServer((request, response) => {
    calls += 1;
    began ??= performance.now();
    const fault = faultAt(performance.now() - began);
    request.resume().on("end", () => {
      const isStart = request.method === "POST";
      const body = isStart || fault !== undefined ? "{}" : document;
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
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
