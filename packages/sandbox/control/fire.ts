import { checkHeaders } from "../api/header-rules.ts";
import type { Environment, FireOptions } from "../environment.ts";
import type { WebhookKind } from "../webhooks.ts";

/** An event to fire; its body is one of `payload`, `body` and `bodyBase64`. */
type FiredEvent = FireOptions & {
  readonly kind: WebhookKind;
  readonly payload?: unknown;
  readonly body?: string;
  readonly bodyBase64?: string;
};

export type Firing = {
  readonly events: readonly FiredEvent[];
  readonly spacingSeconds?: number;
};

/** Maximum events per request: they are queued at once, which blocks the service. */
const maxAtOnce = 20_000;

/**
 * Fires events. With an interval, each is sent later than the previous one, so that they arrive in order.
 * @returns the deliveries' ids, in the order of sending
 */
export function fireAll(environment: Environment, { events, spacingSeconds = 0 }: Firing): readonly string[] {
  const count = events.reduce((sum, { times = 1 }) => sum + times, 0);
  if (count > maxAtOnce) throw new RangeError(`events: ${count} at once are more than ${maxAtOnce}`);
  // Validates all before firing any.
  for (const { headers = {} } of events) checkHeaders(headers);
  const bodies = events.map((event) => [event, bodyOf(event)] as const);
  return bodies.flatMap(([event, body], index) => {
    const delaySeconds = (event.delaySeconds ?? 0) + index * spacingSeconds;
    return environment.fireEvent(event.kind, body, { ...event, delaySeconds });
  });
}

function bodyOf({ payload, body, bodyBase64 }: FiredEvent): Buffer {
  const given = [payload, body, bodyBase64].filter((value) => value !== undefined);
  if (given.length !== 1) throw new RangeError("an event has one of payload, body and bodyBase64");
  if (bodyBase64 !== undefined) return Buffer.from(bodyBase64, "base64");
  return Buffer.from(body ?? JSON.stringify(payload));
}
