import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isSigned, valueOfKind } from "../../../../domain/core/webhook-secret.ts";
import { sendWebhook, type WebhookTarget } from "../../../../packages/cli/provider/webhook-sender.ts";
import { WebhookSender } from "../../../../packages/cli/verify/edge.ts";
import { startTestProvider, type TestProvider } from "../../../support/test-provider.ts";

const secret = { current: "the-secret", signing: "the-key" };

describe("the sender of a run of verify", () => {
  let stage: TestProvider;
  beforeAll(async () => {
    stage = await startTestProvider();
  });
  afterAll(() => stage.close());
  beforeEach(() => {
    stage.requests.length = 0;
    stage.answer = () => 202;
  });

  const target = (url = stage.url): WebhookTarget => ({
    webhooksUrl: `${url}/webhooks`,
    secretHeader: { name: "x-secret" },
    secret,
  });
  const withoutSecret = { kind: "users", method: "GET", authentication: "none" } as const;

  it("has no more webhooks under way than it may, and sends no more than a hundred", async () => {
    let [underWay, most] = [0, 0];
    stage.answer = async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setTimeout(resolve, 5));
      underWay -= 1;
      return 202;
    };
    const limited = new WebhookSender(target(), 3);
    const answers = Array.from({ length: 100 }, () => limited.send(withoutSecret));
    expect(new Set(await Promise.all(answers))).toEqual(new Set([202]));
    expect([most, limited.counts]).toEqual([3, { sent: 100, atOnce: 3 }]);
    await expect(limited.send(withoutSecret)).rejects.toThrow("100 webhooks at most");
    expect(stage.requests).toHaveLength(100);
  });

  it("sends the kind's value as the provider does, and signs the body if the secret has a signing key", async () => {
    await sendWebhook(target(), {
      ...{ kind: "accounts", method: "PUT", authentication: "right", body: '{"a":1}' },
    });
    const [{ method, path, headers, body } = expect.unreachable("nothing was sent")] = stage.requests;
    expect([method, path]).toEqual(["PUT", "/webhooks/accounts"]);
    expect(headers["x-secret"]).toBe(valueOfKind(secret.current, "accounts"));
    expect(isSigned(Buffer.from(body), String(headers["x-signature"]), secret, new Date())).toBe(true);
  });

  it("never sends the secret if it is to be wrong or absent", async () => {
    for (const authentication of ["none", "wrong"] as const)
      await sendWebhook(target(), { kind: "users", method: "POST", authentication, body: "{}" });
    expect(stage.requests[0]?.headers).not.toHaveProperty("x-secret");
    expect(JSON.stringify(stage.requests.map(({ headers }) => headers))).not.toContain(secret.current);
  });

  it("reports why there was no answer", async () => {
    expect(await sendWebhook(target("http://127.0.0.1:1"), withoutSecret)).toMatch(/^no answer \(.+\)$/);
  });
});
