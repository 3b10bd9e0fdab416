import { createHash } from "node:crypto";
import type { Exchange } from "@income-events/local-stack/api/http-api.ts";

/** A webhook's body: once it is accepted, it must be found again, as an event or as a dead letter. */
export type Webhook = { readonly kind: string; readonly body: Buffer };

/**
 * An event's identity as the pipeline promises it: SHA-256 of the kind, a line end and the raw body, base64url.
 * Written here a second time on purpose: a checker that shared the pipeline's code would share its mistakes.
 */
export function identityOf({ kind, body }: Webhook): string {
  return createHash("sha256").update(`${kind}\n`).update(body).digest("base64url");
}

/** The identities of the events in a webhook: of `update_multi_endpoint` one for each element, else the webhook's. */
export function eventIdsOf(webhook: Webhook): readonly string[] {
  const id = identityOf(webhook);
  const list = webhook.kind === "endpoints" ? listIn(webhook.body) : undefined;
  if (list === undefined) return [id];
  const numbers = new Map<string, number>();
  return list.elements.map((element) => {
    const text = JSON.stringify({ ...list.shared, ...element });
    const number = (numbers.get(text) ?? 0) + 1;
    numbers.set(text, number);
    return createHash("sha256").update(`element ${id} ${number}\n${text}`).digest("base64url");
  });
}

function listIn(body: Buffer): { readonly shared: object; readonly elements: readonly object[] } | undefined {
  try {
    const { endpoints, ...shared } = Object(JSON.parse(body.toString()));
    return Array.isArray(endpoints) ? { shared, elements: endpoints } : undefined;
  } catch {
    return undefined;
  }
}

/** What the API answered, recorded where it was answered. */
export type Traffic = {
  readonly observe: (exchange: Exchange) => void;
  /** Status of every request to a webhook. */
  readonly statuses: () => readonly number[];
  /** Ids of the bodies that were answered 2xx: each must be found again. */
  readonly accepted: () => ReadonlySet<string>;
  /** Those of them whose body names one of these ids of the provider. */
  readonly naming: (ids: readonly string[]) => ReadonlySet<string>;
};

const webhookPath = /^\/webhooks\/([a-z-]+)$/;

export function recordTraffic(): Traffic {
  const statuses: number[] = [];
  const accepted = new Map<string, Buffer>();
  return {
    observe: ({ path, body, status }) => {
      const kind = webhookPath.exec(path)?.[1];
      if (kind === undefined) return;
      statuses.push(status);
      if (status >= 200 && status < 300) accepted.set(identityOf({ kind, body }), body);
    },
    statuses: () => statuses,
    accepted: () => new Set(accepted.keys()),
    naming: (ids) =>
      new Set([...accepted].flatMap(([id, body]) => (ids.some((each) => body.includes(each)) ? [id] : []))),
  };
}
