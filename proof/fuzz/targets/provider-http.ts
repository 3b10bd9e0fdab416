import { createServer, type Socket } from "node:net";
import { providerApi, Unauthorized } from "../../../adapters/provider/provider-api.ts";
import { failureOf } from "../../../domain/core/failures.ts";
import { delayInSeconds } from "../../../domain/core/retry.ts";
import { fillPath } from "../../../domain/fetch/provider-settings.ts";
import { must, type Target } from "../target.ts";
import { failsAsSaidLater } from "./failing.ts";
import { splitAtEmptyLine } from "./split.ts";

const maxResponseBytes = 1_024;
const retry = { baseSeconds: 2, maxSeconds: 900 };
const now = () => new Date("2026-11-21T12:00:00Z");

let answer: Uint8Array = new Uint8Array();
let asked = "";

const server = createServer((socket: Socket) => {
  socket.on("error", () => undefined);
  socket.on("data", (bytes) => {
    asked += bytes.toString("latin1");
    if (asked.endsWith("\r\n\r\n")) socket.end(answer);
  });
});
// The process shall end when the fuzzer does.
server.unref();
const call = new Promise<ReturnType<typeof providerApi>>((resolve) => {
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const timeouts = { connectSeconds: 5, headersSeconds: 5, bodySeconds: 5 };
    const limits = { timeouts, maxResponseBytes, allowPrivateAddresses: true };
    resolve(providerApi(`http://127.0.0.1:${port}`, limits, now));
  });
});

/** The id of an account, an empty line, and all bytes that the provider answers, from the status line on. */
async function check(input: Uint8Array): Promise<void> {
  const { head: id, rest } = splitAtEmptyLine(input);
  [answer, asked] = [rest, ""];
  const subject = { kind: "account", id: id.toWellFormed() || "a" } as const;
  const made = await call;
  const result = await failsAsSaidLater(async () => {
    const path = fillPath("/accounts/{account_id}/{endpoint}", subject, "income");
    try {
      return await made("jwt", { method: "GET", path });
    } catch (error) {
      if (error instanceof Unauthorized) return undefined;
      checkDelay(error);
      throw error;
    }
  });
  must(
    result?.found !== true || Buffer.byteLength(result.text) <= 3 * maxResponseBytes,
    "too long an answer",
  );
  checkRequest();
}

/** However long the provider asks to wait, and in whatever words. */
function checkDelay(error: unknown): void {
  const failure = failureOf(error);
  if (failure.kind === "permanent") return;
  const seconds = delayInSeconds(failure, 1, retry, 0.5);
  must(seconds >= 1 && seconds <= retry.maxSeconds, `a delay of ${seconds} s`);
}

/** Whatever the id holds, the provider gets one request line and the headers that are ours. */
function checkRequest(): void {
  if (asked === "") return;
  const [line = "", ...headers] = asked.trimEnd().split("\r\n");
  must(/^GET \/accounts\/[^/\s?#]+\/income HTTP\/1\.1$/.test(line), "an id leads to another path");
  const names = headers.map((header) => header.split(":")[0]?.toLowerCase() ?? "");
  const ours = ["host", "connection", "authorization", "accept"];
  must(
    names.every((name) => ours.includes(name)),
    "an id became a header",
  );
}

const ok = (body: string, more = "") =>
  `a\n\nHTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n${more}connection: close\r\n\r\n${body}`;

export const target: Target = {
  promise: "any bytes of the provider give an answer or a failure with a reason and a delay that can be kept",
  seeds: [
    ok('{"data":[]}'),
    ok("x".repeat(1_100)),
    "a/b\n\nHTTP/1.1 429 Slow\r\nretry-after: 99999999999999\r\nconnection: close\r\n\r\n",
    "a\n\nHTTP/1.1 503 Down\r\nretry-after: Sat, 21 Nov 2026 13:00:00 GMT\r\nconnection: close\r\n\r\n",
    "..\r\nx: y\n\nHTTP/1.1 301 Moved\r\nlocation: https://a.example/\r\nconnection: close\r\n\r\n",
    "a\n\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "a\n\nHTTP/1.1 401 No\r\nconnection: close\r\n\r\n",
  ],
  words: [
    "HTTP/1.1 ",
    "\r\n",
    "retry-after: ",
    "location: ",
    "content-length: ",
    "content-encoding: gzip",
    "100 Continue",
  ],
  setsOff: ["ssrf"],
  check,
};
