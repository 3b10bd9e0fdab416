import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { backgroundInvoker } from "../../../adapters/aws/function-invoker.ts";

describe("invoking a function in the background", () => {
  const caller = {
    region: "eu-central-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test", sessionToken: "session" },
  };
  let statuses: number[];
  let requests: { method: string | undefined; url: string | undefined; headers: object; body: string }[];
  const server = createServer(async (request, response) => {
    const { method, url } = request;
    requests.push({ method, url, headers: headersOf(request), body: await text(request) });
    response.writeHead(statuses.shift() ?? 202).end();
  });
  const endpoint = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    vi.stubEnv("AWS_ENDPOINT_URL", endpoint());
  });
  beforeEach(() => {
    statuses = [];
    requests = [];
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await new Promise((resolve) => server.close(resolve));
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
    const client = new LambdaClient({ ...caller, endpoint: endpoint() });
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

  it("retries twice while Lambda does not accept the invocation, then throws", async () => {
    statuses = [429, 500];
    await backgroundInvoker(caller, "refresh")();
    expect(requests).toHaveLength(3);
    statuses = [500, 500, 500];
    await expect(backgroundInvoker(caller, "refresh")()).rejects.toThrow("Lambda answered 500");
    expect(requests).toHaveLength(6);
  });
});
