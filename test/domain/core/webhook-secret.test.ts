import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  acceptedByAll,
  overlapSecondsOf,
  propagationSecondsOf,
  signingToRegister,
  valueToRegister,
} from "../../../domain/core/secret-registration.ts";
import {
  authenticator,
  headerWith,
  isSigned,
  parseSecretHeader,
  parseWebhookSecret,
  presentedIn,
  type SecretHeader,
  valueOfKind,
  type WebhookSecret,
  writeWebhookSecret,
} from "../../../domain/core/webhook-secret.ts";
import { anyCharacter } from "../../support/any-character.ts";

const until = "2026-03-01T12:00:00.000Z";
const before = new Date("2026-03-01T11:59:59.999Z");
const secret: WebhookSecret = { current: "current-value", previous: { value: "previous-value", until } };

describe("a presented secret", () => {
  it("is refused if the previous one's end can't be read", () => {
    const broken = { current: "c", previous: { value: "p", until: "some day" } };
    expect(authenticator(broken, "users")("p", before)).toBe(false);
  });

  it("passes only by an exact match", () => {
    const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 20 });
    const close = text.chain((current) =>
      fc.record({
        current: fc.constant(current),
        presented: fc.oneof(
          text,
          fc.constant(current),
          fc.constant(`${current},${current}`),
          fc.nat(current.length).map((end) => current.slice(0, end)),
          text.map((more) => current + more),
        ),
      }),
    );
    fc.assert(
      fc.property(close, text, ({ current, presented }, value) => {
        const both = { current, previous: { value, until } };
        expect(authenticator({ current }, "users")(presented, before)).toBe(presented === current);
        expect(authenticator(both, "users")(presented, before)).toBe(
          presented === current || presented === value,
        );
        expect(authenticator(both, "users")(presented, new Date(until))).toBe(presented === current);
      }),
      { numRuns: 500 },
    );
  });
});

describe("the value of a kind", () => {
  const kinds = ["users", "accounts", "endpoints", "company-accounts"];

  it("is HMAC-SHA256 of the kind's name under the secret, in hex, so that a person can make it with openssl", () => {
    const made = createHmac("sha256", "the secret").update("accounts").digest("hex");
    expect(valueOfKind("the secret", "accounts")).toBe(made);
    expect(made).toBe("f0370e6621d0dbd761c95bd2b811b66a2e43db7d6d8eca1ef66a93683b2041df");
  });

  it("is valid only for its own kind, before, during and after a rotation, whatever the secrets are", () => {
    const value = fc.string({ unit: anyCharacter, minLength: 1 });
    const kind = fc.constantFrom(...kinds);
    fc.assert(
      fc.property(value, value, kind, kind, (current, earlier, sentTo, of) => {
        const rotating = { current, previous: { value: earlier, until } };
        const ends = new Date(until);
        expect(authenticator({ current }, sentTo)(valueOfKind(current, of), before)).toBe(of === sentTo);
        expect(authenticator(rotating, sentTo)(valueOfKind(current, of), before)).toBe(of === sentTo);
        expect(authenticator(rotating, sentTo)(valueOfKind(earlier, of), before)).toBe(of === sentTo);
        const isSame = current === earlier;
        expect(authenticator(rotating, sentTo)(valueOfKind(earlier, of), ends)).toBe(isSame && of === sentTo);
      }),
    );
  });

  it("does not reveal another kind's value", () => {
    for (const [of, to] of kinds.flatMap((each) => kinds.map((other) => [each, other] as const))) {
      const derived = valueOfKind(valueOfKind("current-value", of), to);
      expect(authenticator(secret, to)(derived, before)).toBe(false);
    }
  });
});

describe("the stored secret", () => {
  it("is read with and without a previous value", () => {
    expect(parseWebhookSecret('{"current":"c"}')).toEqual({ current: "c" });
    expect(parseWebhookSecret(`{"current":"c","previous":"p","previousUntil":"${until}"}`)).toEqual({
      current: "c",
      previous: { value: "p", until },
    });
  });

  it("has no previous value without its end, or without its value", () => {
    for (const text of [
      '{"current":"c","previous":"p"}',
      `{"current":"c","previous":"","previousUntil":"${until}"}`,
      `{"current":"c","previousUntil":"${until}"}`,
    ]) {
      expect(parseWebhookSecret(text)).toEqual({ current: "c" });
    }
  });

  it("counts as not configured if its current value is empty, missing or not text", () => {
    for (const text of ["{}", '{"current":""}', '{"current":null}', '{"current":5}', '{"previous":"p"}']) {
      expect(parseWebhookSecret(text)).toBeUndefined();
    }
  });

  it("is written as it is read", () => {
    const value = fc.string({ minLength: 1 });
    const written = fc.record(
      { current: value, previous: fc.record({ value, until: fc.constant(until) }), signing: value },
      { requiredKeys: ["current"] },
    );
    fc.assert(
      fc.property(written, (one) => {
        expect(parseWebhookSecret(writeWebhookSecret(one))).toEqual(one);
      }),
    );
  });

  it("is never quoted if it can't be read", () => {
    for (const text of [
      "canary-secret",
      '"canary-secret"',
      '["canary-secret"]',
      '{"current":"canary-secret',
    ]) {
      expect(() => parseWebhookSecret(text)).toThrow(
        /^the webhook secret(: expected an object| is not JSON)$/,
      );
    }
  });
});

describe("the value to register", () => {
  const changed = new Date("2026-03-01T10:00:00Z");
  const secondsLater = (seconds: number) => new Date(changed.getTime() + seconds * 1000);
  const propagationSeconds = propagationSecondsOf(60);
  const register = (of: WebhookSecret, now: Date) => valueToRegister(of, changed, now, propagationSeconds);

  it("is the previous one until every receiver has read the current one", () => {
    const previous = { type: "previous", value: "previous-value" };
    expect(register(secret, secondsLater(0))).toEqual({ ...previous, readyInSeconds: 120 });
    expect(register(secret, secondsLater(119.5))).toEqual({ ...previous, readyInSeconds: 1 });
    expect(register(secret, secondsLater(120))).toEqual({ type: "current", value: "current-value" });
  });

  it("is the current one at once if it is the only one: the first, or after a revocation", () => {
    expect(register({ current: "c" }, secondsLater(0))).toEqual({ type: "current", value: "c" });
    const over = { current: "c", previous: { value: "p", until: secondsLater(-1).toISOString() } };
    expect(register(over, secondsLater(0))).toEqual({ type: "current", value: "c" });
  });

  it("waits longer, never shorter, if the clock is behind that of the secret", () => {
    expect(register(secret, secondsLater(-300))).toMatchObject({ type: "previous", readyInSeconds: 420 });
  });

  it("is at any moment accepted by every receiver, however long ago within its time it read the secret", () => {
    const cacheSeconds = 60;
    const timestamp = fc.double({ min: 0, max: 1_000, noNaN: true });
    const age = fc.double({ min: 0, max: cacheSeconds, noNaN: true, maxExcluded: true });
    fc.assert(
      fc.property(timestamp, age, (seconds, readAgo) => {
        const { value } = valueToRegister(
          secret,
          changed,
          secondsLater(seconds),
          propagationSecondsOf(cacheSeconds),
        );
        const known: WebhookSecret = seconds - readAgo < 0 ? { current: "previous-value" } : secret;
        expect(authenticator(known, "users")(value, secondsLater(seconds))).toBe(true);
        expect(authenticator(known, "users")(valueOfKind(value, "users"), secondsLater(seconds))).toBe(true);
      }),
    );
  });

  it("before a rotation outlives the provider's retries, even if only the second run registers", () => {
    expect(overlapSecondsOf(72, 24)).toBe((72 + 48) * 3600);
    expect(propagationSecondsOf(60)).toBe(120);
  });
});

describe("a signature", () => {
  const raw = Buffer.from('{"a":1}');
  const signing = "the signing secret";
  const signature = createHmac("sha512", signing).update(raw).digest("base64");

  it("is HMAC-SHA512 over the raw body, in base64, with the signing secret", () => {
    expect(isSigned(raw, signature, { current: "c", signing }, before)).toBe(true);
    expect(isSigned(Buffer.from('{"a": 1}'), signature, { current: "c", signing }, before)).toBe(false);
    expect(isSigned(raw, signature, { current: "c", signing: "another" }, before)).toBe(false);
    expect(
      isSigned(raw, Buffer.from(signature, "base64").toString("hex"), { current: "c", signing }, before),
    ).toBe(false);
  });

  it("may use the previous signing secret until its end", () => {
    const rotating = { current: "c", signing: "next", previousSigning: { value: signing, until } };
    expect(isSigned(raw, signature, rotating, before)).toBe(true);
    expect(isSigned(raw, signature, rotating, new Date(until))).toBe(false);
    const next = createHmac("sha512", "next").update(raw).digest("base64");
    for (const now of [before, new Date(until)]) expect(isSigned(raw, next, rotating, now)).toBe(true);
    expect(parseWebhookSecret(writeWebhookSecret(rotating))).toEqual(rotating);
  });

  it("is required only if a signing secret is set", () => {
    expect(isSigned(raw, undefined, { current: "c", signing }, before)).toBe(false);
    expect(isSigned(raw, undefined, { current: "c" }, before)).toBe(true);
    expect(isSigned(raw, "anything", { current: "c" }, before)).toBe(true);
  });
});

describe("the signing secret to register", () => {
  const changed = new Date("2026-03-01T10:00:00Z");
  const times = { propagationSeconds: 120, overlapSeconds: 7_200 };
  const previousSigning = { value: "previous", until };
  const endingAt = (time: string) => ({ value: "previous", until: `2026-03-01T${time}.000Z` });

  it.each<[string, Omit<WebhookSecret, "current">, number, object]>([
    ["none if none is set", {}, 0, {}],
    ["the first one at once", { signing: "s" }, 0, { value: "s" }],
    [
      "the previous one after a change",
      { signing: "s", previousSigning },
      0,
      { value: "previous", readyInSeconds: 120 },
    ],
    [
      "the previous one until every receiver knows the change",
      { signing: "s", previousSigning },
      119.5,
      { value: "previous", readyInSeconds: 1 },
    ],
    ["the new one then", { signing: "s", previousSigning }, 120, { value: "s" }],
    ["the previous one after a removal", { previousSigning }, 0, { value: "previous", readyInSeconds: 120 }],
    ["none when every receiver knows the removal", { previousSigning }, 120, {}],
    [
      "the current one if only the other secret has changed",
      { signing: "s", previousSigning: endingAt("10:30:00") },
      0,
      { value: "s" },
    ],
    [
      "the previous one if a clock that set its end differs by less than an hour",
      { signing: "s", previousSigning: endingAt("11:00:01") },
      0,
      { value: "previous", readyInSeconds: 120 },
    ],
    [
      "the current one if that clock differs by an hour",
      { signing: "s", previousSigning: endingAt("13:00:00") },
      0,
      { value: "s" },
    ],
  ])("is %s", (_, signing, seconds, expected) => {
    const now = new Date(changed.getTime() + seconds * 1_000);
    expect(signingToRegister({ current: "c", ...signing }, changed, now, times)).toEqual(expected);
  });
});

it("every receiver accepts the previous secrets while a rotation lasts, and then the current ones", () => {
  const rotating = { ...secret, signing: "s", previousSigning: { value: "t", until } };
  expect(acceptedByAll(rotating, before)).toEqual({ current: "previous-value", signing: "t" });
  expect(acceptedByAll(rotating, new Date(until))).toEqual({ current: "current-value", signing: "s" });
  expect(acceptedByAll({ current: "c" }, before)).toEqual({ current: "c" });
});

describe("the header that carries the secret", () => {
  const name = "x-webhook-secret";
  const [bearer, basic] = [{ name, scheme: "Bearer" } as const, { name, scheme: "Basic" } as const];
  const inBase64 = (text: string) => Buffer.from(text).toString("base64");

  it("presents the value that a sender wrote, with each scheme", () => {
    fc.assert(
      fc.property(
        fc.constantFrom({ name }, bearer, basic),
        fc.stringMatching(/^[!-~]{1,40}$/),
        (to, value) => {
          expect(presentedIn(to, headerWith(to, value))).toBe(value);
        },
      ),
    );
  });

  it.each<[string, SecretHeader, string | undefined, string | undefined]>([
    ["as it is without a scheme", { name }, "Bearer s", "Bearer s"],
    ["in another case, after spaces", bearer, "bEARER   s", "s"],
    ["not if the header is missing", bearer, undefined, undefined],
    ["not with another scheme", bearer, "Basic s", undefined],
    ["not with a longer scheme", bearer, "Bearers s", undefined],
    ["not behind other text", bearer, "x Bearer s", undefined],
    ["not without a value", bearer, "Bearer ", undefined],
    ["as the password of any user", basic, `Basic ${inBase64("anyone:s:t")}`, "s:t"],
    ["not as a user name", basic, `Basic ${inBase64("s")}`, undefined],
  ])("presents the secret %s", (_, header, written, value) => {
    expect(presentedIn(header, { [name]: written })).toBe(value);
  });

  it("is parsed from the settings, in lower case, with a scheme if it is a known one", () => {
    const header = { secretHeader: "X-Webhook-Secret" };
    expect(parseSecretHeader(header)).toEqual({ name });
    expect(parseSecretHeader({ ...header, secretScheme: "Basic" })).toEqual(basic);
    expect(parseSecretHeader({ ...header, secretScheme: "Digest" })).toEqual({ name });
    expect(() => parseSecretHeader({})).toThrow("secretHeader: expected a text");
  });
});
