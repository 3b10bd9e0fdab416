import { afterEach, describe, expect, it, vi } from "vitest";
import type { Deployment } from "../../../../packages/cli/core/deployment.ts";
import { webhooksAddress } from "../../../../packages/cli/provider/webhook-sender.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

function deployed(address: string, endpoint?: string): Deployment {
  const outputs: Readonly<Record<string, string>> = {
    TokenSecretArn: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:Token-abc",
    WebhooksUrl: address,
  };
  return {
    stage: "dev",
    stack: "income-events-dev",
    resourcePrefix: "income-events-dev-",
    resources: /^/,
    client: { region: "eu-west-1", ...(endpoint !== undefined && { endpoint }) },
    output: (name) => outputs[name] ?? "",
    optionalOutput: () => undefined,
  };
}

describe("the address that a secret is sent to", () => {
  it("is API Gateway's own in the stage's region", () => {
    const address = "https://abc123.execute-api.eu-west-1.amazonaws.com/webhooks";
    expect(webhooksAddress(deployed(address))).toBe(address);
  });

  it.each([
    "https://abc123.execute-api.us-east-1.amazonaws.com/webhooks",
    "http://abc123.execute-api.eu-west-1.amazonaws.com/webhooks",
    "https://execute-api.eu-west-1.amazonaws.com.evil.example/webhooks",
    "https://evil.example#.execute-api.eu-west-1.amazonaws.com/webhooks",
    "https://hooks.example.com/webhooks",
  ])("is not elsewhere, unless an endpoint is set explicitly: %s", (address) => {
    expect(() => webhooksAddress(deployed(address))).toThrow("The outputs lead elsewhere");
    expect(webhooksAddress(deployed(address, "http://127.0.0.1:4566"))).toBe(address);
    vi.stubEnv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566");
    expect(webhooksAddress(deployed(address))).toBe(address);
  });
});
