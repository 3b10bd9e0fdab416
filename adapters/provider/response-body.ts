import type { IncomingMessage } from "node:http";
import { permanent } from "../../domain/core/failures.ts";
import { endAfter } from "../aws/end-after.ts";
import { decoded } from "../content-coding.ts";
import { timedOut } from "./http-request.ts";

/** What is read of an error's page, so that its connection can be used again; more is not worth the time. */
const maxOfErrorPage = { bytes: 65_536, milliseconds: 1_000 } as const;

export type BodyLimits = {
  /** As it comes, and without its content codings. */
  readonly maxBytes: number;
  /** The longest between two parts. */
  readonly silenceInMillis: number;
};

/**
 * Reads a body whole, and undoes its content codings. Over the limit the connection is cut: what else would come is never
 * received.
 * @throws permanent failure over the limit, retryable where it is in no coding that its header names; the connection's
 * errors as they are
 */
export async function readBody(
  body: IncomingMessage,
  { maxBytes, silenceInMillis }: BodyLimits,
): Promise<Uint8Array> {
  const tooLarge = () => permanent(`the answer is over ${maxBytes} bytes; see provider.maxResponseBytes`);
  if (Number(body.headers["content-length"]) > maxBytes) {
    cut(body);
    throw tooLarge();
  }
  const deadline = endAfter(silenceInMillis, () => body.destroy(timedOut("BODY_TIMEOUT")));
  const chunks: Uint8Array[] = [];
  try {
    let bytes = 0;
    for await (const chunk of chunksOf(body)) {
      deadline.refresh();
      bytes += chunk.byteLength;
      // Leaving the loop ends the body, and with it the connection.
      if (bytes > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } finally {
    deadline.clear();
  }
  return decoded(Buffer.concat(chunks), body.headers["content-encoding"], maxBytes, tooLarge);
}

function chunksOf(body: IncomingMessage): AsyncIterable<Uint8Array> {
  return body;
}

/** Reads a body that nobody wants to its end, if that is near; else the connection is cut. */
export async function discard(body: IncomingMessage): Promise<void> {
  const deadline = endAfter(maxOfErrorPage.milliseconds, () => cut(body));
  try {
    let bytes = 0;
    for await (const chunk of chunksOf(body)) {
      bytes += chunk.byteLength;
      if (bytes > maxOfErrorPage.bytes) break;
    }
  } catch {
    // It broke off, and nobody wants it.
  } finally {
    deadline.clear();
  }
}

function cut(body: IncomingMessage): void {
  body.on("error", () => undefined).destroy();
}
