import type { Dispatcher } from "undici";
import { permanent } from "../domain/failures.ts";

type Body = Dispatcher.ResponseData["body"];

/** What is read of an error's page, so that its connection can be used again; more is not worth the time. */
const mostOfErrorPage = { bytes: 65_536, milliseconds: 1_000 } as const;

/**
 * Reads a body whole, as UTF-8. Over the limit the connection is cut: what else would come is never received.
 * @param announced the header `content-length`
 * @throws permanent failure over the limit; the connection's errors as they are
 */
export async function readText(body: Body, announced: unknown, maxBytes: number): Promise<string> {
  const tooLarge = () => permanent(`the answer is over ${maxBytes} bytes; see provider.maxResponseBytes`);
  if (Number(announced) > maxBytes) {
    cut(body);
    throw tooLarge();
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(body)) {
    bytes += chunk.byteLength;
    // Leaving the loop ends the body, and with it the connection.
    if (bytes > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function chunksOf(body: Body): AsyncIterable<Uint8Array> {
  return body;
}

/** Reads a body that nobody wants to its end, if that is near; else the connection is cut. */
export async function discard(body: Body): Promise<void> {
  const { bytes: limit, milliseconds } = mostOfErrorPage;
  await body.dump({ limit, signal: AbortSignal.timeout(milliseconds) }).catch(() => undefined);
}

function cut(body: Body): void {
  body.on("error", () => undefined).destroy();
}
