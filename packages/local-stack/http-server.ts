import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from "node:http";

export type Answer = {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
};

/** Milliseconds; longer than any client keeps an idle connection, so that the server never closes first. */
export const keepAliveTimeout = 120_000;

/**
 * Listens on loopback.
 * @param port 0 for any free port
 * @param name of the server, for errors
 * @throws Error if the port is in use
 */
export function listen(
  server: Server,
  { port = 0, host = "127.0.0.1", name = "server" }: { port?: number; host?: string; name?: string } = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const inUse = `Port ${port} is in use, so the ${name} can't listen on it: choose another port, or 0 for any free one`;
      reject(error.code === "EADDRINUSE" ? new Error(inUse) : error);
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

/** Closes the server and its connections. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

/**
 * Reads a request's body; returns undefined if it exceeds a limit: the rest is read and dropped so that the
 * answer arrives. A trap: `node:stream/consumers` takes twice the CPU time because it creates a Blob.
 */
export function bodyOf(
  request: IncomingMessage,
  limit = Number.POSITIVE_INFINITY,
): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request
      .on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= limit) chunks.push(chunk);
        else chunks.length = 0;
      })
      .on("end", () => resolve(bytes <= limit ? Buffer.concat(chunks) : undefined))
      .on("error", reject);
  });
}

/** For HEAD, keeps the engine's Content-Length, which is that of the GET response. */
export function writeAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  const length = { "content-length": body.length };
  const isHead = response.req.method === "HEAD";
  response.writeHead(status, isHead ? { ...length, ...headers } : { ...headers, ...length }).end(body);
}
