import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isSigned, valueOfKind } from "../../../../domain/core/webhook-secret.ts";
import { sendWebhook, type WebhookTarget } from "../../../../packages/cli/provider/webhook-sender.ts";
import { WebhookSender } from "../../../../packages/cli/verify/edge.ts";

const secret = { current: "the-secret", signing: "the-key" };

describe("the sender of a run of verify", () => {
  const requests: { readonly request: IncomingMessage; readonly body: Buffer }[] = [];
  let held: ServerResponse[] = [];
  let heard: () => void = () => undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      requests.push({ request, body: Buffer.concat(chunks) });
      held.push(response);
      heard();
    });
  });
  let webhooksUrl = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    webhooksUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/webhooks`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    requests.length = 0;
    held = [];
  });

  const sender = (atOnce: number) =>
    new WebhookSender({ webhooksUrl, secretHeader: { name: "x-secret" }, secret }, atOnce);
  const answerHeld = () => {
    for (const response of held.splice(0)) response.writeHead(202).end();
  };
  const waitForRequests = (count: number) =>
    new Promise<void>((resolve) => {
      heard = () => {
        if (requests.length >= count) resolve();
      };
      heard();
    });

  it("has no more webhooks under way than it may", async () => {
    const limited = sender(3);
    const answers = Array.from({ length: 7 }, () =>
      limited.send({ kind: "users", method: "POST", authentication: "right", body: "{}" }),
    );
    for (const count of [3, 6, 7]) {
      await waitForRequests(count);
      expect(held.length).toBeLessThanOrEqual(3);
      answerHeld();
    }
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 7 }, () => 202));
    expect(limited.counts).toEqual({ sent: 7, atOnce: 3 });
  });

  it("sends no more than a hundred", async () => {
    heard = answerHeld;
    const limited = sender(10);
    const webhook = { kind: "users", method: "GET", authentication: "none" } as const;
    await Promise.all(Array.from({ length: 100 }, () => limited.send(webhook)));
    await expect(limited.send(webhook)).rejects.toThrow("100 webhooks at most");
    expect(requests).toHaveLength(100);
  });

  it("sends the kind's value as the provider does, and signs the body if the secret has a signing key", async () => {
    heard = answerHeld;
    await sender(1).send({ kind: "accounts", method: "PUT", authentication: "right", body: '{"a":1}' });
    const [received] = requests;
    const headers = received?.request.headers ?? {};
    expect(received?.request).toMatchObject({ method: "PUT", url: "/webhooks/accounts" });
    expect(headers["x-secret"]).toBe(valueOfKind(secret.current, "accounts"));
    expect(isSigned(received?.body ?? Buffer.of(), String(headers["x-signature"]), secret, new Date())).toBe(
      true,
    );
  });

  it("never sends the secret if it is to be wrong or absent", async () => {
    heard = answerHeld;
    for (const authentication of ["none", "wrong"] as const)
      await sender(1).send({ kind: "users", method: "POST", authentication, body: "{}" });
    expect(requests[0]?.request.headers).not.toHaveProperty("x-secret");
    expect(JSON.stringify(requests.map(({ request }) => request.headers))).not.toContain(secret.current);
  });

  it("reports why there was no answer", async () => {
    const nowhere: WebhookTarget = {
      webhooksUrl: "http://127.0.0.1:1/webhooks",
      secretHeader: { name: "x-secret" },
      secret,
    };
    expect(await sendWebhook(nowhere, { kind: "users", method: "GET", authentication: "none" })).toMatch(
      /^no answer \(.+\)$/,
    );
  });
});
