import { createHash, timingSafeEqual } from "node:crypto";
import { fieldsOf, optionalText, parseJson } from "./parse.ts";

/** What the provider must send in the secret header. During a rotation the previous value stays valid. */
export type WebhookSecret = {
  readonly current: string;
  readonly previous?: { readonly value: string; readonly until: string };
};

/**
 * Parses the secret's string: `{"current": text, "previous"?: text, "previousUntil"?: ISO time}`.
 * @returns undefined where no current value is configured: the caller then refuses every call (fails closed)
 */
export function parseWebhookSecret(text: string): WebhookSecret | undefined {
  const fields = fieldsOf(parseJson(text, "the webhook secret"), "the webhook secret");
  const current = optionalText(fields, "current");
  if (current === undefined) return undefined;
  const value = optionalText(fields, "previous");
  const until = optionalText(fields, "previousUntil");
  return value === undefined || until === undefined ? { current } : { current, previous: { value, until } };
}

/** Whether a presented header is a valid secret at `now`. Compares digests in constant time. */
export function isAuthentic(presented: string | undefined, secret: WebhookSecret, now: Date): boolean {
  if (presented === undefined) return false;
  const isCurrent = isSame(presented, secret.current);
  const { previous } = secret;
  const isPrevious =
    previous !== undefined && isSame(presented, previous.value) && now.getTime() < Date.parse(previous.until);
  return isCurrent || isPrevious;
}

// Digests have one length whatever was presented, so that timingSafeEqual never throws and never tells a length.
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(sha256(left), sha256(right));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
