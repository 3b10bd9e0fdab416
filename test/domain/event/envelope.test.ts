import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Body,
  bodyOf,
  decodeUtf8,
  type Envelope,
  envelopeVersion,
  inlineLimitInBytes,
  readEnvelope,
  writeEnvelope,
} from "../../../domain/event/envelope.ts";
import { eventTypes, webhookKinds } from "../../../domain/event/events.ts";
import { anyCharacter } from "../../support/any-character.ts";

const envelope: Envelope = {
  schemaVersion: envelopeVersion,
  kind: "accounts",
  id: "an-identity",
  receivedAt: "2026-03-01T12:00:00.000Z",
  body: { type: "text", text: "{}" },
};

const filled = fc.string({ minLength: 1, unit: anyCharacter });
const bodies: fc.Arbitrary<Body> = fc.oneof(
  fc.string({ unit: anyCharacter }).map((text) => ({ type: "text", text }) as const),
  fc
    .uint8Array({ minLength: 1 })
    .map((bytes) => ({ type: "base64", base64: Buffer.from(bytes).toString("base64") }) as const),
  fc.record({
    type: fc.constant("object" as const),
    key: filled,
    encoding: fc.constantFrom("text" as const, "base64" as const),
    bytes: fc.nat(),
  }),
  fc.record({
    type: fc.constant("facts" as const),
    facts: fc.record(
      { type: fc.constantFrom(...eventTypes), userId: filled, accountId: filled, connected: fc.boolean() },
      { requiredKeys: ["type"] },
    ),
  }),
);

describe("an envelope", () => {
  it("is read as it was written, with every kind of body", () => {
    fc.assert(
      fc.property(fc.constantFrom(...webhookKinds), filled, bodies, (kind, id, body) => {
        const written = { ...envelope, kind, id, body };
        expect(readEnvelope(writeEnvelope(written))).toEqual(written);
      }),
    );
  });

  it("contains headers if the mapping reads some, and is read without them", () => {
    const texts = fc.dictionary(fc.string(), fc.string({ unit: anyCharacter }));
    fc.assert(
      fc.property(texts, (headers) => {
        const text = writeEnvelope({ ...envelope, headers });
        expect(text).not.toMatch(/[\uFFFE\uFFFF]/);
        expect(readEnvelope(text)).toEqual({ ...envelope, headers });
      }),
    );
    expect(readEnvelope(writeEnvelope(envelope))).not.toHaveProperty("headers");
    expect(() => readEnvelope(JSON.stringify({ ...envelope, headers: { a: 1 } }))).toThrow(
      "headers: expected texts",
    );
  });

  it("of the next release is read, whatever fields it adds", () => {
    const added = { ...envelope, schemaVersion: envelopeVersion + 1, added: { by: "the next release" } };
    expect(readEnvelope(JSON.stringify(added))).toEqual(envelope);
  });

  it("that is not JSON is refused without quoting its text", () => {
    expect(() => readEnvelope("canary-4711")).toThrow(/^the envelope is not JSON$/);
  });
});

it.each<[string, object]>([
  ["kind", { kind: "cats" }],
  ["id", { id: "" }],
  ["receivedAt", { receivedAt: undefined }],
  ["headers", { headers: [] }],
  ["body", { body: "{}" }],
  ["body.text", { body: { type: "text" } }],
  ["base64", { body: { type: "base64", base64: "" } }],
  ["key", { body: { type: "object", bytes: 1 } }],
  ["bytes", { body: { type: "object", key: "k" } }],
  ["event.type", { body: { type: "facts", facts: {} } }],
  ["body.type", { body: { type: "file" } }],
  ["schemaVersion", { schemaVersion: "1" }],
])("an envelope is refused by the invalid field: %s", (field, fault) => {
  expect(() => readEnvelope(JSON.stringify({ ...envelope, ...fault }))).toThrow(`${field}: expected`);
});

it("an envelope says whether its body is one element of a list", () => {
  const element = { ...envelope, isElement: true as const };
  expect(readEnvelope(writeEnvelope(element))).toEqual(element);
  expect(readEnvelope(JSON.stringify({ ...envelope, isElement: "yes" }))).toEqual(envelope);
});

describe("a body", () => {
  const bytesOf = (body: Body) => {
    if (body.type === "text") return Buffer.from(body.text);
    if (body.type === "base64") return Buffer.from(body.base64, "base64");
    throw new Error("the body is neither text nor base64");
  };

  it("is sent without a changed byte, whatever its bytes are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const read = readEnvelope(writeEnvelope({ ...envelope, body: bodyOf(bytes) }));
        expect(bytesOf(read.body).equals(bytes)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("in UTF-8 is sent as text, without a changed character", () => {
    const wellFormed = fc.string({ unit: anyCharacter }).filter((text) => !/[\uFFFE\uFFFF]/.test(text));
    fc.assert(
      fc.property(wellFormed, (text) => {
        expect(bodyOf(Buffer.from(text))).toEqual({ type: "text", text });
      }),
    );
  });

  it("is sent as base64 if SQS would refuse its characters", () => {
    for (const text of ["\uFFFE", "\uFFFF", 'a"\uFFFF"']) {
      const bytes = Buffer.from(text);
      expect(bodyOf(bytes)).toEqual({ type: "base64", base64: bytes.toString("base64") });
    }
  });

  it("is sent as base64 if it is not UTF-8", () => {
    const lone = [[0x80], [0xc3], [0xed, 0xa0, 0x80], [0xff, 0xfe], [0xc0, 0x80], [0x7b, 0xf8, 0x7d]];
    for (const bytes of lone) {
      expect(bodyOf(Uint8Array.from(bytes))).toEqual({
        type: "base64",
        base64: Buffer.from(bytes).toString("base64"),
      });
      expect(decodeUtf8(Uint8Array.from(bytes))).toBeUndefined();
    }
  });

  it("never makes an envelope with a character that SQS refuses", () => {
    // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
    const accepted = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), filled.map(Buffer.from)), (bytes) => {
        expect(accepted.test(writeEnvelope({ ...envelope, body: bodyOf(bytes) }))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe("the inline limit", () => {
  it("leaves room for an event's facts within an item of DynamoDB, 400 KB", () => {
    expect(inlineLimitInBytes).toBe(380_000);
    expect(inlineLimitInBytes + 16 * 1024).toBeLessThan(400 * 1024);
  });
});
