import { createHash } from "node:crypto";
import type { WebhookKind } from "./events.ts";
import type { MappedHeaders } from "./mapping-source.ts";

/**
 * The identity of a webhook and, unless the settings say otherwise, of its event: SHA-256 of its kind and raw
 * body in base64url (43 characters). It is computed before any field is dropped from the body, so every retry
 * of a body has the same identity. DLQs, redrives and mapping changes do not alter it.
 *
 * Headers that the mapping reads are included: if the type, subject or id is in a header, two events may have
 * the same body. Without such headers, only the kind and body count (see docs/adr/0004).
 */
export function identify(kind: WebhookKind, body: Uint8Array, headers: MappedHeaders = {}): string {
  const carried = Object.entries(headers).sort(([one], [other]) => (one < other ? -1 : 1));
  // Kinds contain no space and JSON contains no line feed, so different inputs never start with the same
  // bytes.
  const beginning = carried.length === 0 ? kind : `${kind} ${JSON.stringify(carried)}`;
  return digest(`${beginning}\n`, body);
}

/** The identity of an event with the provider's own event id. Nothing else in the event affects it. */
export function identifyByEventId(kind: WebhookKind, eventId: string): string {
  return digest(`${kind} eventId\n`, eventId);
}

/**
 * The identity of one element of a webhook's list. It does not depend on the position, which another mapping
 * could change between receipt and redrive.
 * @param webhookId the webhook's identity
 * @param text the element's stored text
 * @param number counts equal elements of the list, from 1
 */
export function identifyElement(webhookId: string, text: string, number: number): string {
  return digest(`element ${webhookId} ${number}\n`, text);
}

function digest(beginning: string, content: string | Uint8Array): string {
  return createHash("sha256").update(beginning).update(content).digest("base64url");
}
