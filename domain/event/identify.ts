import { createHash } from "node:crypto";
import type { WebhookKind } from "./events.ts";
import type { MappedHeaders } from "./mapping-source.ts";

/**
 * The identity of a webhook, and of its event unless the settings say otherwise: SHA-256 of its kind and raw body,
 * base64url (43 characters). A retry carries the same body. Made before anything is dropped from
 * the body, carried in the envelope, and unchanged by DLQ, redrive or a change of the mapping.
 *
 * Headers that the mapping reads belong to it: where type, subject or id stand in headers, two events may have
 * the same body, byte for byte. Without such headers it is what it was before there were any (see docs/adr/0004).
 */
export function identify(kind: WebhookKind, body: Uint8Array, headers: MappedHeaders = {}): string {
  const carried = Object.entries(headers).sort(([one], [other]) => (one < other ? -1 : 1));
  // No kind has a blank in its name, and JSON no line end: nothing else begins with the same bytes.
  const beginning = carried.length === 0 ? kind : `${kind} ${JSON.stringify(carried)}`;
  return digest(`${beginning}\n`, body);
}

/** The identity of an event by the provider's own id of it: whatever else differs, it is the same event. */
export function identifyByEventId(kind: WebhookKind, eventId: string): string {
  return digest(`${kind} eventId\n`, eventId);
}

/**
 * The identity of an element of a webhook's list. It does not depend on the position, which another mapping may change
 * between receipt and redrive.
 * @param webhookId the identity of the webhook
 * @param text the element as it is kept
 * @param number counts equal elements of the list, from 1
 */
export function identifyElement(webhookId: string, text: string, number: number): string {
  return digest(`element ${webhookId} ${number}\n`, text);
}

function digest(beginning: string, content: string | Uint8Array): string {
  return createHash("sha256").update(beginning).update(content).digest("base64url");
}
