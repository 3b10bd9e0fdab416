import { createHash } from "node:crypto";
import type { Exchange } from "@income-events/local-stack/api/http-api.ts";

/** A webhook's body: once accepted, it must be found as an event or as a dead letter. */
export type Webhook = { readonly kind: string; readonly body: Buffer };

/**
 * Documented identity of an event: SHA-256 of the kind, a line end and the raw body, base64url. Implemented
 * separately on purpose: a check that shared the pipeline's code would share its faults.
 */
export function identityOf({ kind, body }: Webhook): string {
  return createHash("sha256").update(`${kind}\n`).update(body).digest("base64url");
}

/** Identities of the events in a webhook: one per element of `update_multi_endpoint`, else the webhook's. */
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

/** Answers of the API, recorded at the API. */
export type Traffic = ReturnType<typeof recordTraffic>;

const webhookPath = /^\/webhooks\/([a-z-]+)$/;

export function recordTraffic() {
  const statuses: number[] = [];
  const accepted = new Map<string, Buffer>();
  return {
    observe: ({ path, body, status }: Exchange): void => {
      const kind = webhookPath.exec(path)?.[1];
      if (kind === undefined) return;
      statuses.push(status);
      if (status >= 200 && status < 300) accepted.set(identityOf({ kind, body }), body);
    },
    /** Status of every request to a webhook. */
    statuses: (): readonly number[] => statuses,
    /** Ids of the bodies that were answered 2xx: each must be found again. */
    accepted: (): ReadonlySet<string> => new Set(accepted.keys()),
    /** Those whose body contains one of these provider ids. */
    naming: (ids: readonly string[]): ReadonlySet<string> =>
      new Set([...accepted].flatMap(([id, body]) => (ids.some((each) => body.includes(each)) ? [id] : []))),
  };
}
