import { createServer } from "node:net";

/** @returns a port of this address that nobody listens on @throws where there is none */
export async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await new Promise((resolve, reject) => server.once("listening", resolve).once("error", reject));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error(`No free port on ${host}`);
  return address.port;
}
