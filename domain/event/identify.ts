import { createHash } from "node:crypto";
import type { WebhookKind } from "./events.ts";
import type { MappedHeaders } from "./mapping-source.ts";

/**
 * The identity of an event: SHA-256 of its kind and raw body, base64url (43 characters). A retry carries the
 * same body, and the provider shows no event id that would be better. Made before anything is dropped from
 * the body, carried in the envelope, and unchanged by DLQ, redrive or a change of the mapping.
 *
 * Headers that the mapping reads belong to it: where type, subject or id stand in headers, two events may have
 * the same body, byte for byte. Without such headers it is what it was before there were any (see docs/adr/0004).
 */
export function identify(kind: WebhookKind, body: Uint8Array, headers: MappedHeaders = {}): string {
  const carried = Object.entries(headers).sort(([one], [other]) => (one < other ? -1 : 1));
  // No kind has a blank in its name, and JSON no line end: nothing else begins with the same bytes.
  const beginning = carried.length === 0 ? kind : `${kind} ${JSON.stringify(carried)}`;
  return createHash("sha256").update(`${beginning}\n`).update(body).digest("base64url");
}
