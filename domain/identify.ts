import { createHash } from "node:crypto";
import type { Kind } from "./events.ts";

/**
 * The identity of an event: SHA-256 of its kind and raw body, base64url (43 characters). A retry carries the
 * same body, and the provider shows no event id that would be better. Made before anything is dropped from
 * the body, carried in the envelope, and unchanged by DLQ, redrive or a change of the mapping.
 */
export function identify(kind: Kind, body: Uint8Array): string {
  return createHash("sha256").update(`${kind}\n`).update(body).digest("base64url");
}
