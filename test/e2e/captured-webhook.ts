import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { startTestProvider } from "../../proof/support/test-provider.ts";

/** Registration path of each kind's webhook. */
const paths = {
  accounts: "/api/v0.3/webhooks/accounts",
  "company-accounts": "/api/company/v0.5/webhooks/accounts",
};

export type CapturedKind = keyof typeof paths;

/** Headers of a connection or a single request. */
const ofTheRequest = ["host", "connection", "content-length"];

/**
 * Captures a webhook as the provider sends it, with everything registered for its kind, before it reaches the
 * pipeline.
 * @returns a function that sends it to a kind's path and returns the status
 */
export async function captureWebhook(
  { sandbox, stack }: System,
  kind: CapturedKind,
  event: object,
): Promise<(to: string) => Promise<number>> {
  const registered = sandbox.webhook(kind);
  const register = (webhook: object | undefined) =>
    fetch(`${sandbox.baseUrl}${paths[kind]}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${sandbox.token}`, "content-type": "application/json" },
      body: JSON.stringify({ ...webhook, enabled: undefined }),
    });
  const recorder = await startTestProvider();
  try {
    recorder.answer = () => 202;
    await register({ ...registered, url: recorder.url });
    sandbox.fireEvent(kind, event);
    await sandbox.waitUntilIdle();
  } finally {
    await register(registered);
    await recorder.close();
  }
  const [request] = recorder.requests;
  if (request === undefined) throw new Error(`no webhook of ${kind} was sent`);
  const { method, body } = request;
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    ofTheRequest.includes(name) ? [] : [[name, String(value)] as [string, string]],
  );
  return async (to) => {
    const answer = await fetch(`${outputOf(stack, "WebhooksUrl")}/${to}`, { method, headers, body });
    await answer.arrayBuffer();
    return answer.status;
  };
}
