import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A provider that always answers at once: what is measured is who calls it. */
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

export async function startProvider(): Promise<BenchProvider> {
  let calls = 0;
  const server = createServer((request, response) => {
    calls += 1;
    request.resume().on("end", () => {
      const body = request.method === "POST" ? "{}" : document;
      response.writeHead(request.method === "POST" ? 202 : 200, {
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
