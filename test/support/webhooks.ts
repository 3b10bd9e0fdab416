import { addressesOf } from "@income-events/local-stack/addresses.ts";
import { outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { z } from "zod";
import { identify } from "../../domain/event/envelope.ts";
import type { WebhookKind } from "../../domain/event/events.ts";
import type { Message } from "../../domain/message/message-schemas.ts";
import { readMessages } from "./queues/subscriber-messages.ts";

const webhookSecret = z.object({ current: z.string() });
const codedLine = z.looseObject({ code: z.string(), function: z.string() });

export function webhookSecretOf(stack: LocalStack): string {
  return webhookSecret.parse(JSON.parse(stack.secretValue(outputOf(stack, "WebhookSecretArn")))).current;
}

/** Posts a webhook to a kind's path with the secret; returns the answer's status. */
export async function postWebhook(system: System, kind: string, body: object | string): Promise<number> {
  const { endpoints, webhookHeaders } = addressesOf(system);
  const answer = await fetch(`${endpoints.api}/webhooks/${kind}`, {
    method: "POST",
    headers: { ...webhookHeaders, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Posts a webhook that is accepted; returns the id of its event, which correlates its log lines. */
export async function sendFollowed(
  system: System,
  kind: WebhookKind,
  payload: object | string,
): Promise<string> {
  const body = typeof payload === "string" ? payload : JSON.stringify(payload);
  const status = await postWebhook(system, kind, body);
  if (status !== 202) throw new Error(`the webhook was answered ${status}`);
  return identify(kind, Buffer.from(body));
}

/** Event that announces data of an account. */
export function endpointEvent(accountId: string) {
  return {
    event: "update_endpoint",
    request_id: crypto.randomUUID(),
    account_id: accountId,
    endpoint: "profile",
    data_available: true,
  };
}

/** Replaces the registration of a kind's webhook at the provider. */
export async function registerAtProvider(
  { sandbox }: Pick<System, "sandbox">,
  kind: WebhookKind,
  webhook: object | undefined,
): Promise<void> {
  const path =
    kind === "company-accounts" ? "/api/company/v0.5/webhooks/accounts" : `/api/v0.3/webhooks/${kind}`;
  const answer = await fetch(`${sandbox.baseUrl}${path}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${await sandbox.issueToken()}`, "content-type": "application/json" },
    body: JSON.stringify({ method: "POST", headers: {}, ...webhook, enabled: undefined }),
  });
  if (!answer.ok) throw new Error(`the registration was answered ${answer.status}`);
}

/** `function code` of each line of all functions that a search for an id finds. */
export function linesWith({ stack }: System, id: string): readonly string[] {
  return stack.functions
    .flatMap(({ log }) => log())
    .filter((line) => line.includes(id))
    .map((line) => codedLine.parse(JSON.parse(line)))
    .map((line) => `${line.function} ${line.code}`);
}

/** Messages with a correlation id to the subscriber that gets everything; takes all out of its queue. */
export async function messagesWith({ stack, access }: System, id: string): Promise<readonly Message[]> {
  const everything = subscribersOf(stack).find(({ name }) => name === "everything");
  const messages = await readMessages(access, everything?.queueUrl ?? "");
  return messages.filter(({ correlationid }) => correlationid === id);
}
