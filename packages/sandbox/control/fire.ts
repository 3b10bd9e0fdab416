import { checkHeaders } from "../api/header-rules.ts";
import { random } from "../data/random.ts";
import type { Environment, FireOptions } from "../environment.ts";
import type { WebhookKind } from "../webhooks.ts";

/** An event as it is asked for; one of `payload`, `body` and `bodyBase64` is its body. */
export type FiredEvent = FireOptions & {
  readonly kind: WebhookKind;
  readonly payload?: unknown;
  readonly body?: string;
  readonly bodyBase64?: string;
};

export type Order = "given" | "reversed" | "shuffled";

export type Firing = {
  readonly events: readonly FiredEvent[];
  readonly order?: Order;
  readonly spacingSeconds?: number;
};

/** All of them are queued in one turn, in which the service answers nobody. */
const maxAtOnce = 20_000;

/**
 * Fires events. In an order, each is sent a while after the one before, so that it also arrives so.
 * @returns the deliveries' ids, in the order of sending
 */
export function fireAll(
  environment: Environment,
  { events, order, spacingSeconds = 1 }: Firing,
): readonly string[] {
  const count = events.reduce((sum, { times = 1 }) => sum + times, 0);
  if (count > maxAtOnce) throw new RangeError(`events: ${count} at once are more than ${maxAtOnce}`);
  // All are checked before the first is fired.
  for (const { headers = {} } of events) checkHeaders(headers);
  const bodies = events.map(bodyOf);
  const spacing = order === undefined ? 0 : spacingSeconds;
  return ordered([...events.keys()], order).flatMap((index, place) => {
    const event = events[index];
    const body = bodies[index];
    if (event === undefined || body === undefined) return [];
    const delaySeconds = (event.delaySeconds ?? 0) + place * spacing;
    return environment.fireEvent(event.kind, body, { ...event, delaySeconds });
  });
}

function ordered(indexes: readonly number[], order: Order | undefined): readonly number[] {
  switch (order) {
    case undefined:
    case "given":
      return indexes;
    case "reversed":
      return indexes.toReversed();
    case "shuffled":
      return random("order", String(indexes.length)).helpers.shuffle(indexes);
  }
}

function bodyOf({ payload, body, bodyBase64 }: FiredEvent): Buffer {
  const given = [payload, body, bodyBase64].filter((value) => value !== undefined);
  if (given.length !== 1) throw new RangeError("an event has one of payload, body and bodyBase64");
  if (bodyBase64 !== undefined) return Buffer.from(bodyBase64, "base64");
  return Buffer.from(body ?? JSON.stringify(payload));
}
