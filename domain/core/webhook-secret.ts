import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { type Fields, fieldsOf, optionalText, parseJson, present, textOf } from "./parse.ts";

/**
 * What the webhooks' secret header is made of, by `valueOfKind`. During a rotation the previous value stays valid.
 */
export type WebhookSecret = {
  readonly current: string;
  readonly previous?: { readonly value: string; readonly until: string };
  /** Where it is set, each body must be signed with it as well. */
  readonly signing?: string;
  /** The signing secret before it, which is accepted during a rotation of that. */
  readonly previousSigning?: { readonly value: string; readonly until: string };
};

/**
 * Parses the secret's string: `{"current": text, "previous"?: text, "previousUntil"?: ISO time, "signing"?: text,
 * "previousSigning"?: text, "previousSigningUntil"?: ISO time}`.
 * @returns undefined where no current value is configured: the caller then refuses every call (fails closed)
 */
export function parseWebhookSecret(text: string): WebhookSecret | undefined {
  const fields = fieldsOf(parseJson(text, "the webhook secret"), "the webhook secret");
  const current = optionalText(fields, "current");
  if (current === undefined) return undefined;
  const before = (name: "previous" | "previousSigning") => {
    const [value, until] = [optionalText(fields, name), optionalText(fields, `${name}Until`)];
    return value === undefined || until === undefined ? undefined : { value, until };
  };
  return present<WebhookSecret>({
    current,
    previous: before("previous"),
    signing: optionalText(fields, "signing"),
    previousSigning: before("previousSigning"),
  });
}

/** The secret's string, as `parseWebhookSecret` reads it. */
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

/** Whether a rotation is still under way: deliveries with the value before it are accepted. */
export function hasValidPrevious({ previous }: WebhookSecret, now: Date): boolean {
  return previous !== undefined && now.getTime() < Date.parse(previous.until);
}

/** The secret whose values the provider is asked to send. */
export type ValueToRegister =
  | { readonly type: "current"; readonly value: string }
  | { readonly type: "previous"; readonly value: string; readonly readyInSeconds: number };

/**
 * The secret whose values every receiver accepts at `now`. A receiver that read the secret before `since`, when it was
 * last changed, knows only the previous value until it reads again: until then that one stays registered. Without
 * a previous value (revoked, or the first) there is nothing to wait with.
 * @param propagationSeconds how long after a change every receiver has read it
 */
export function valueToRegister(
  secret: WebhookSecret,
  since: Date,
  now: Date,
  propagationSeconds: number,
): ValueToRegister {
  const { current, previous } = secret;
  const left = since.getTime() / 1000 + propagationSeconds - now.getTime() / 1000;
  if (left <= 0 || previous === undefined || !hasValidPrevious(secret, now)) {
    return { type: "current", value: current };
  }
  return { type: "previous", value: previous.value, readyInSeconds: Math.ceil(left) };
}

/** A command counts the overlap by its own clock, Secrets Manager the change by its: so far they may differ. */
const clocksDifferMs = 3_600_000;

/** The signing secret that the provider is asked to sign bodies with; without a value it is asked for no signature. */
export type SigningToRegister = {
  readonly value?: string;
  /** After this time another one can be registered, or none. */
  readonly readyInSeconds?: number;
};

/**
 * The signing secret that every receiver accepts at `now`. Where this version of the secret has another one than the
 * version before, or none any more, a receiver that has not read it yet accepts only the one before. A first one is
 * registered at once: receivers that don't know it take what is signed, too.
 * @param since when the secret was last changed
 */
export function signingToRegister(
  { signing, previousSigning }: WebhookSecret,
  since: Date,
  now: Date,
  { propagationSeconds, overlapSeconds }: RotationTimes,
): SigningToRegister {
  const left = since.getTime() / 1000 + propagationSeconds - now.getTime() / 1000;
  const until = Date.parse(previousSigning?.until ?? "");
  const isOfThisChange = Math.abs(until - overlapSeconds * 1000 - since.getTime()) < clocksDifferMs;
  if (previousSigning !== undefined && left > 0 && isOfThisChange)
    return { value: previousSigning.value, readyInSeconds: Math.ceil(left) };
  return signing === undefined ? {} : { value: signing };
}

/** How long receivers take to know a new value, and how long the one before is accepted. */
export type RotationTimes = { readonly propagationSeconds: number; readonly overlapSeconds: number };

/**
 * How long after a change of the secret every receiver has read it: twice the time for which they keep it, for
 * reads under way and clocks that differ.
 */
export function propagationSecondsOf(cacheSeconds: number): number {
  return 2 * cacheSeconds;
}

/**
 * How long the previous value is accepted: while the provider tries deliveries again that it began with it. It
 * may do that from the registration on, which a killed rotation leaves to the schedule, at most its second run.
 */
export function overlapSecondsOf(retryHours: number, registerEveryHours: number): number {
  return 3600 * (retryHours + 2 * registerEveryHours);
}

/**
 * What the service is asked to send with the webhooks of one kind: HMAC-SHA256 of the kind's name under the secret, in
 * hex. It opens that kind's receiver alone, and says nothing of the secret.
 */
export function valueOfKind(secret: string, kind: string): string {
  return createHmac("sha256", secret).update(kind).digest("hex");
}

/** The header that carries the secret, and the scheme before it as `Authorization` has one; absent: the secret alone. */
export type SecretHeader = { readonly name: string; readonly scheme?: SecretScheme };
export const secretSchemes = ["Bearer", "Basic"] as const;
export type SecretScheme = (typeof secretSchemes)[number];

/** @throws permanent failure naming the setting */
export function parseSecretHeader(settings: Fields): SecretHeader {
  const scheme = secretSchemes.find((each) => each === settings.secretScheme);
  return present<SecretHeader>({ name: textOf(settings, "secretHeader").toLowerCase(), scheme });
}

/** `Basic` carries the secret as the password. The name of the user is not compared. */
const basicUser = "income-events";

/** The header with a value, as a sender writes it. */
export function headerWith({ name, scheme }: SecretHeader, value: string): Readonly<Record<string, string>> {
  if (scheme === undefined) return { [name]: value };
  const pair = `${basicUser}:${value}`;
  return { [name]: `${scheme} ${scheme === "Basic" ? Buffer.from(pair).toString("base64") : value}` };
}

/** The value that a request presents; undefined where there is none, or another scheme. */
export function presentedIn(
  { name, scheme }: SecretHeader,
  headers: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const header = headers[name];
  if (scheme === undefined || header === undefined) return header;
  // Names of schemes are the same in any case. Source: RFC 9110, "Authentication Scheme".
  const [, given = "", credentials = ""] = /^([A-Za-z]+) +(.+)$/s.exec(header) ?? [];
  if (given.toLowerCase() !== scheme.toLowerCase()) return undefined;
  if (scheme === "Bearer") return credentials;
  const pair = Buffer.from(credentials, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon === -1 ? undefined : pair.slice(colon + 1);
}

/** Whether a presented header opens a receiver at `now`. */
export type IsAuthentic = (presented: string | undefined, now: Date) => boolean;

/**
 * What opens the receiver of a kind: the kind's value, or the secret itself, which never travels from the service and is
 * there for an operator's own programs. Digests are made once, and compared in constant time.
 */
export function authenticator(secret: WebhookSecret, kind: string): IsAuthentic {
  const digestsOf = (value: string) => [valueOfKind(value, kind), value].map(sha256);
  const current = digestsOf(secret.current);
  const previous = secret.previous && digestsOf(secret.previous.value);
  return (presented, now) => {
    if (presented === undefined) return false;
    const digest = sha256(presented);
    // Each is compared, also where an earlier one was right.
    const isAmong = (digests: readonly Buffer[]) =>
      digests.map((each) => timingSafeEqual(digest, each)).includes(true);
    const isCurrent = isAmong(current);
    const isPrevious = previous !== undefined && isAmong(previous) && hasValidPrevious(secret, now);
    return isCurrent || isPrevious;
  };
}

/**
 * Whether a body is signed as the secret asks: HMAC-SHA512 over its raw bytes, in base64, with the signing secret or,
 * during its rotation, the one before. Compares digests in constant time. Without a signing secret every body is.
 */
export function isSigned(
  raw: Uint8Array,
  signature: string | undefined,
  { signing, previousSigning }: WebhookSecret,
  now: Date,
): boolean {
  if (signing === undefined) return true;
  if (signature === undefined) return false;
  const isBy = (key: string) => isSame(signature, createHmac("sha512", key).update(raw).digest("base64"));
  const isCurrent = isBy(signing);
  const isPrevious =
    previousSigning !== undefined &&
    isBy(previousSigning.value) &&
    now.getTime() < Date.parse(previousSigning.until);
  return isCurrent || isPrevious;
}

// Digests have one length whatever was presented, so that timingSafeEqual never throws and never reports a length.
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(sha256(left), sha256(right));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
