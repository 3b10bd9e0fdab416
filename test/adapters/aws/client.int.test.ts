import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { closeServer, listen } from "@income-events/local-stack/http-server.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { backgroundInvoker } from "../../../adapters/aws/client.ts";

describe("invoking a function in the background", () => {
  const caller = {
    region: "eu-central-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test", sessionToken: "session" },
  };
  /** In place of a status: the connection ends without an answer. */
  const lost = 0;
  let statuses: number[];
  let requests: { method: string | undefined; url: string | undefined; headers: object; body: string }[];
  const server = createServer(async (request, response) => {
    const { method, url } = request;
    requests.push({ method, url, headers: headersOf(request), body: await text(request) });
    const status = statuses.shift() ?? 202;
    if (status === lost) request.socket.destroy();
    else response.writeHead(status).end();
  });
  let endpoint: string;

  beforeAll(async () => {
    endpoint = `http://127.0.0.1:${await listen(server)}`;
    vi.stubEnv("AWS_ENDPOINT_URL", endpoint);
  });
  beforeEach(() => {
    statuses = [];
    requests = [];
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await closeServer(server);
  });

  /** Those that Lambda reads, with what the signature is for. */
  function headersOf({ headers }: IncomingMessage): object {
    const [scope] = /(?<=Credential=test\/\d{8})[^,]+/.exec(headers.authorization ?? "") ?? [];
    return {
      type: headers["x-amz-invocation-type"],
      digest: headers["x-amz-content-sha256"],
      token: headers["x-amz-security-token"],
      scope,
    };
  }

  it("sends what the SDK's client sends", async () => {
    await backgroundInvoker(caller, "reconcile", { lost: "users" })();
    const client = new LambdaClient({ ...caller, endpoint });
    const [FunctionName, Payload] = ["reconcile", JSON.stringify({ lost: "users" })];
    await client.send(new InvokeCommand({ FunctionName, InvocationType: "Event", Payload }));
    client.destroy();
    expect(requests).toHaveLength(2);
    expect(requests[0]).toEqual(requests[1]);
    expect(requests[0]).toMatchObject({
      body: Payload,
      headers: { scope: "/eu-central-1/lambda/aws4_request" },
    });
  });

  it("retries twice while Lambda does not accept the invocation or answer, then throws", async () => {
    statuses = [429, lost];
    await backgroundInvoker(caller, "refresh")();
    expect(requests).toHaveLength(3);
    statuses = [500, 500, 500];
    await expect(backgroundInvoker(caller, "refresh")()).rejects.toThrow("Lambda refused an invocation: 500");
    expect(requests).toHaveLength(6);
  });
});
