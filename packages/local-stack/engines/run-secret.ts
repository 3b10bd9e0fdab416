import { randomBytes, timingSafeEqual } from "node:crypto";

/** The header in which an engine is told the secret of its run. */
const secretHeader = "x-engine-secret";

/** A secret of one run of an engine, which its address carries as a password: only who started it knows that. */
export function newRunSecret(): string {
  return randomBytes(24).toString("base64url");
}

/** @param url an engine's address without it */
export function withRunSecret(url: string, secret: string): string {
  const address = new URL(url);
  address.password = secret;
  return address.href;
}

/** The header that an engine's address asks for; none where it has no secret. */
export function secretHeadersFor(url: string): Readonly<Record<string, string>> {
  const { password } = new URL(url);
  return password === "" ? {} : { [secretHeader]: password };
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Whether a request was sent to loopback, and not to a name that a page in a browser lets lead there, by who started us. */
export function isOfThisRun({ host, [secretHeader]: given }: Headers, secret: string): boolean {
  const name = String(host).replace(/:\d+$/, "");
  if (name !== "127.0.0.1" && name !== "localhost") return false;
  const [expected, actual] = [Buffer.from(secret), Buffer.from(String(given))];
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
