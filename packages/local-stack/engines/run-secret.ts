import { randomBytes, timingSafeEqual } from "node:crypto";

const secretHeader = "x-engine-secret";

/**
 * Creates a secret for one run of an engine. Its address carries it as a password, so only the starter knows
 * it.
 */
export function newRunSecret(): string {
  return randomBytes(24).toString("base64url");
}

/** @param url the engine's address without a secret */
export function withRunSecret(url: string, secret: string): string {
  const address = new URL(url);
  address.password = secret;
  return address.href;
}

/** Headers that an engine's address requires; empty if it has no secret. */
export function secretHeadersFor(url: string): Readonly<Record<string, string>> {
  const { password } = new URL(url);
  return password === "" ? {} : { [secretHeader]: password };
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Whether a request carries the secret and was sent to a loopback address, not to a DNS name that resolves to
 * one (DNS rebinding).
 */
export function isOfThisRun({ host, [secretHeader]: given }: Headers, secret: string): boolean {
  const name = String(host).replace(/:\d+$/, "");
  if (name !== "127.0.0.1" && name !== "localhost") return false;
  const [expected, actual] = [Buffer.from(secret), Buffer.from(String(given))];
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
