import { wants } from "../message/message.ts";
import type { IncomeEvent, WebhookKind } from "./events.ts";

/** Selects events. An absent field matches all. */
export type EventFilter = {
  readonly kind?: WebhookKind;
  /** An event type, or a prefix that ends in `*`, as for subscribers. */
  readonly type?: string;
  readonly endpoint?: string;
  /** A part of the event's id. */
  readonly text?: string;
  /** When the event was received: from `since` (inclusive) until `until` (exclusive), ISO 8601. */
  readonly since?: string;
  readonly until?: string;
};

export function selects(
  { kind, type, endpoint, text, since, until }: EventFilter,
  event: IncomeEvent,
): boolean {
  return (
    (endpoint === undefined || event.endpoint === endpoint) &&
    (text === undefined || event.id.includes(text)) &&
    (kind === undefined || event.kind === kind) &&
    (type === undefined || wants({ name: "", types: [type] }, event.type)) &&
    (since === undefined || event.receivedAt >= since) &&
    (until === undefined || event.receivedAt < until)
  );
}
