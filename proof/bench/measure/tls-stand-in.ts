import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";
import { closeServer, listen } from "@income-events/local-stack/http-server.ts";
import { z } from "zod";
import { webhookSecret } from "../drive/running-implementation.ts";
import { scratchDirectory } from "../scratch.ts";

/** Answers over TLS what AWS answers to the first calls of a function, at once: what is measured is the caller. */
export type TlsStandIn = AsyncDisposable & { readonly url: string; readonly certificateFile: string };

/** @throws where openssl, which makes the certificate of an hour, is not installed */
export async function startTlsStandIn(): Promise<TlsStandIn> {
  const directory = scratchDirectory("tls");
  const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  const subject = ["-subj", "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1"];
  const request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject];
  await promisify(execFile)("openssl", request);
  const server = createServer(
    { key: await readFile(key), cert: await readFile(cert) },
    async (message, response) => {
      const request = await json(message);
      const body = JSON.stringify(answer(String(message.headers["x-amz-target"]), request));
      response.writeHead(200, {
        "content-type": "application/x-amz-json-1.0",
        "content-length": Buffer.byteLength(body),
      });
      response.end(body);
    },
  );
  const port = await listen(server);
  return {
    url: `https://127.0.0.1:${port}`,
    certificateFile: cert,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

const oneMessage = z.object({ MessageBody: z.string() });
const batch = z.object({ Entries: z.array(oneMessage.extend({ Id: z.string() })) });

function answer(target: string, request: unknown): object {
  switch (target.split(".")[1]) {
    case "GetSecretValue":
      return { SecretString: JSON.stringify({ current: webhookSecret }), VersionId: "bench" };
    case "SendMessage":
      return sent(oneMessage.parse(request));
    case "SendMessageBatch":
      return { Successful: batch.parse(request).Entries.map((entry) => ({ Id: entry.Id, ...sent(entry) })) };
    default:
      return {};
  }
}

/** The SDK compares the digest. */
function sent({ MessageBody }: z.output<typeof oneMessage>): object {
  return { MessageId: "bench", MD5OfMessageBody: createHash("md5").update(MessageBody).digest("hex") };
}
