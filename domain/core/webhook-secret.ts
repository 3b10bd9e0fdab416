import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { type Fields, fieldsOf, optionalText, parseJson, present, textOf } from "./parse.ts";

/**
 * The secret from which `valueOfKind` derives the webhooks' secret header. During a rotation, the previous
 * value stays valid.
 */
export type WebhookSecret = NonNullable<ReturnType<typeof parseWebhookSecret>>;

/**
 * Parses the secret's string: `{"current": text, "previous"?: text, "previousUntil"?: ISO time, "signing"?:
 * text, "previousSigning"?: text, "previousSigningUntil"?: ISO time}`.
 * @returns undefined if there is no current value; the caller must then reject every call (fail closed)
 */
export function parseWebhookSecret(text: string) {
  const fields = fieldsOf(parseJson(text, "the webhook secret"), "the webhook secret");
  const current = optionalText(fields, "current");
  if (current === undefined) return undefined;
  const before = (name: "previous" | "previousSigning") => {
    const [value, until] = [optionalText(fields, name), optionalText(fields, `${name}Until`)];
    return value === undefined || until === undefined ? undefined : ({ value, until } as const);
  };
  return present({
    current,
    previous: before("previous"),
    /** If set, each body must also be signed with it. */
    signing: optionalText(fields, "signing"),
    /** The previous signing secret, accepted during a rotation. */
    previousSigning: before("previousSigning"),
  });
}

export function writeWebhookSecret({ current, previous, signing, previousSigning }: WebhookSecret): string {
  return JSON.stringify({
    current,
    ...(previous && { previous: previous.value, previousUntil: previous.until }),
    ...present({ signing }),
    ...(previousSigning && {
      previousSigning: previousSigning.value,
      previousSigningUntil: previousSigning.until,
    }),
  });
}

/** Whether a rotation is in progress, so that the previous value is still accepted. */
export function hasValidPrevious({ previous }: WebhookSecret, now: Date): boolean {
  return validAt(previous, now) !== undefined;
}

/** The value of a previous secret; undefined if there is none, or it has expired. */
export function validAt(previous: WebhookSecret["previous"], now: Date): string | undefined {
  return previous !== undefined && now.getTime() < Date.parse(previous.until) ? previous.value : undefined;
}

/**
 * The value to send with webhooks of one kind: HMAC-SHA256 of the kind's name under the secret, in hex. It is
 * valid only for that kind's receiver and does not reveal the secret.
 */
export function valueOfKind(secret: string, kind: string): string {
  return createHmac("sha256", secret).update(kind).digest("hex");
}

/** The header that carries the secret, with an optional `Authorization` scheme; absent: the secret alone. */
export type SecretHeader = { readonly name: string; readonly scheme?: (typeof secretSchemes)[number] };
export const secretSchemes = ["Bearer", "Basic"] as const;

/** @throws permanent failure naming the setting */
export function parseSecretHeader(settings: Fields): SecretHeader {
  const scheme = secretSchemes.find((each) => each === settings.secretScheme);
  return present<SecretHeader>({ name: textOf(settings, "secretHeader").toLowerCase(), scheme });
}

/** `Basic` sends the secret as the password. The user name is not checked. */
const basicUser = "income-events";

/** The header with a value, as a sender writes it. */
export function headerWith({ name, scheme }: SecretHeader, value: string): Readonly<Record<string, string>> {
  if (scheme === undefined) return { [name]: value };
  const pair = `${basicUser}:${value}`;
  return { [name]: `${scheme} ${scheme === "Basic" ? Buffer.from(pair).toString("base64") : value}` };
}

/** The value that a request presents; undefined if it is missing or has another scheme. */
export function presentedIn(
  { name, scheme }: SecretHeader,
  headers: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const header = headers[name];
  if (scheme === undefined || header === undefined) return header;
  // Scheme names are case-insensitive. Source: RFC 9110, "Authentication Scheme".
  const [, given = "", credentials = ""] = /^([A-Za-z]+) +(.+)$/s.exec(header) ?? [];
  if (given.toLowerCase() !== scheme.toLowerCase()) return undefined;
  if (scheme === "Bearer") return credentials;
  const pair = Buffer.from(credentials, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon === -1 ? undefined : pair.slice(colon + 1);
}

/**
 * Creates the check of a kind's receiver: whether it accepts a presented value at a time. It accepts the kind's value, or the secret itself for an operator's
 * own programs; the provider never gets the secret. Digests are computed once and compared in constant time.
 */
export function authenticator(secret: WebhookSecret, kind: string) {
  const digestsOf = (value: string) => [valueOfKind(value, kind), value].map(sha256);
  const current = digestsOf(secret.current);
  const previous = secret.previous && digestsOf(secret.previous.value);
  return (presented: string | undefined, now: Date): boolean => {
    if (presented === undefined) return false;
    const digest = sha256(presented);
    // Compare all of them even after a match, to keep the time constant.
    const isAmong = (digests: readonly Buffer[]) =>
      digests.map((each) => timingSafeEqual(digest, each)).includes(true);
    const isCurrent = isAmong(current);
    const isPrevious = previous !== undefined && isAmong(previous) && hasValidPrevious(secret, now);
    return isCurrent || isPrevious;
  };
}

/** Header with the signature of the body, if a signing secret is set. */
export const signatureHeader = "x-signature";

/** The signature of a body: HMAC-SHA512 of its bytes in base64. */
export function signatureOf(body: string | Uint8Array, signing: string): string {
  return createHmac("sha512", signing).update(body).digest("base64");
}

/**
 * Whether a body's signature is valid, by the signing secret or, during a rotation, the previous one. Compares
 * digests in constant time. Always true without a signing secret.
 */
export function isSigned(
  raw: Uint8Array,
  signature: string | undefined,
  { signing, previousSigning }: WebhookSecret,
  now: Date,
): boolean {
  if (signing === undefined) return true;
  if (signature === undefined) return false;
  const isBy = (key: string | undefined) => key !== undefined && isSame(signature, signatureOf(raw, key));
  const isCurrent = isBy(signing);
  const isPrevious = isBy(validAt(previousSigning, now));
  return isCurrent || isPrevious;
}

// Digests have a fixed length, so that timingSafeEqual never throws and does not reveal a length.
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(sha256(left), sha256(right));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
