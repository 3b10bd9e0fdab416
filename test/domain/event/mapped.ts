import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { failureOf } from "../../../domain/core/failures.ts";
import { identify } from "../../../domain/event/envelope.ts";
import { parseExact } from "../../../domain/event/lossless-json.ts";
import { type KindMapping, mapPayload } from "../../../domain/event/mapping.ts";
import { type MappedEvent, mapWebhook, type Webhook } from "../../../domain/event/webhook-events.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";

export const anyIds: KindMapping = { ...defaultMapping.accounts, ids: "any" };

export const map = (payload: unknown, mapping: KindMapping = defaultMapping.accounts) =>
  mapPayload(mapping, payload, jmespathSearch);

/** Reason for refusing a payload; every refusal must be permanent. */
export function reasonOf(
  payload: unknown,
  mapping: KindMapping = defaultMapping.accounts,
): string | undefined {
  try {
    map(payload, mapping);
    return undefined;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.type !== "permanent") throw error;
    return failure.reason;
  }
}

export const accounts: KindMapping = { ...defaultMapping.accounts, ids: "any" };

/** Events of a webhook, as the consumer of its kind maps them. */
export function eventsIn(body: unknown, mapping: KindMapping = accounts, more: Partial<Webhook> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const { kind = "accounts" } = more;
  const webhook = {
    kind,
    id: identify(kind, Buffer.from(text)),
    receivedAt: "2026-11-27T12:00:00.000Z",
    ...more,
  };
  return mapWebhook(mapping, webhook, parseExact(text, "the body"), jmespathSearch);
}

/** The facts of an event, or the reason why there are none. */
export function said(event: MappedEvent) {
  if ("failure" in event) return event.failure.reason;
  return "ignored" in event ? `ignored ${event.ignored}` : event.facts;
}

export const connect = (id: string) => ({ action: "connect_account", account_id: id });
export const connected = (id: string) => ({ type: "account.connected", accountId: id });
