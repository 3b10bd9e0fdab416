import { wants } from "../message/subscribers.ts";
import type { IncomeEvent, WebhookKind } from "./events.ts";

/** Which events are looked for; what is absent does not matter. */
export type EventFilter = {
  readonly kind?: WebhookKind;
  /** An event type, or a prefix that ends in `*`, as subscribers have it. */
  readonly type?: string;
  readonly endpoint?: string;
  /** What its id contains. */
  readonly text?: string;
  /** Received at this moment or later, and before that one; ISO 8601. */
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
