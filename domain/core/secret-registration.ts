import { present } from "./parse.ts";
import { hasValidPrevious, validAt, type WebhookSecret } from "./webhook-secret.ts";

/**
 * The secrets that every receiver accepts at `now`: the previous ones during a rotation, because a receiver may not
 * have read the new ones yet.
 */
export function acceptedByAll(
  { current, previous, signing, previousSigning }: WebhookSecret,
  now: Date,
): Pick<WebhookSecret, "current" | "signing"> {
  return present<Pick<WebhookSecret, "current" | "signing">>({
    current: validAt(previous, now) ?? current,
    signing: validAt(previousSigning, now) ?? signing,
  });
}

/** The secret to register with the provider. */
export type ValueToRegister =
  | { readonly type: "current"; readonly value: string }
  | { readonly type: "previous"; readonly value: string; readonly readyInSeconds: number };

/**
 * The secret that every receiver accepts at `now`. After a change at `since`, receivers know only the
 * previous value until they read the secret again, so that value stays registered. Without a previous value
 * (revoked, or the first secret), the current one is registered now.
 * @param propagationSeconds time until every receiver has read a change
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

/** Maximum difference between the clocks of a command, which sets the overlap, and of Secrets Manager. */
const clocksDifferMs = 3_600_000;

/** The signing secret to register with the provider; without a value, no signature is requested. */
export type SigningToRegister = {
  readonly value?: string;
  /** After this time a different signing secret, or none, can be registered. */
  readonly readyInSeconds?: number;
};

/**
 * The signing secret that every receiver accepts at `now`. After a change or removal, receivers that have not
 * read the secret again accept only the previous one. A first signing secret is registered at once, because
 * receivers that do not know it accept signed bodies, too.
 * @param since time of the secret's last change
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

/** How long until receivers know a new value, and how long they accept the previous one. */
export type RotationTimes = { readonly propagationSeconds: number; readonly overlapSeconds: number };

/**
 * Time until every receiver has read a change of the secret: twice their cache time, to allow for reads in
 * progress and clock differences.
 */
export function propagationSecondsOf(cacheSeconds: number): number {
  return 2 * cacheSeconds;
}

/**
 * How long the previous value is accepted, in seconds: as long as the provider retries deliveries that
 * started with it. If a rotation is interrupted, the schedule registers the new value by its second run.
 */
export function overlapSecondsOf(retryHours: number, registerEveryHours: number): number {
  return 3600 * (retryHours + 2 * registerEveryHours);
}
