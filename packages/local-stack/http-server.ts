import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from "node:http";

/** A whole answer, from an engine or made here. */
export type Answer = {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
};

/** Milliseconds: longer than any client keeps an idle connection, so that none is closed in its face. */
export const keepAliveTimeout = 120_000;

/**
 * Listens on loopback.
 * @param port 0: any free one
 * @param name of what listens, for people
 * @throws Error where the port is in use
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

/** Ends the connections, too. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

/**
 * A request's body; undefined where it is over a limit: the rest of it is read and dropped, so that the answer arrives.
 * A trap: `node:stream/consumers` takes twice the processor time, by way of a Blob.
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

/** Node sends no body of an answer to HEAD; an engine's says how long that of GET is. */
export function writeAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  const length = { "content-length": body.length };
  const isHead = response.req.method === "HEAD";
  response.writeHead(status, isHead ? { ...length, ...headers } : { ...headers, ...length }).end(body);
}
