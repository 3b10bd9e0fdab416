import { createHash } from "node:crypto";
import { permanent } from "../core/failures.ts";
import {
  checkSchemaVersion,
  fieldsOf,
  numberOf,
  parseJson,
  parseTexts,
  present,
  textOf,
} from "../core/parse.ts";
import { type EventAttributes, isWebhookKind, parseAttributes, type WebhookKind } from "./events.ts";
import { jsonText } from "./json.ts";
import type { MappedHeaders } from "./mapping-source.ts";

/** The envelope version that this release writes. */
export const envelopeVersion = 1;

/**
 * Maximum size in bytes of a serialized envelope in an SQS message (limit 1 MiB) or a DynamoDB item (limit
 * 400 KB). Both share one limit, so that only the receiver writes bodies to the overflow bucket.
 */
export const inlineLimitInBytes = 380_000;

/**
 * A webhook's body: text if it is clean UTF-8, otherwise base64. A larger body is a reference to an S3
 * object.
 */
export type Body =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "base64"; readonly base64: string }
  | {
      readonly type: "object";
      readonly key: string;
      readonly encoding: "text" | "base64";
      readonly bytes: number;
    }
  /** Attributes of an event that only reconciliation found. Only our own code writes it. */
  | { readonly type: "facts"; readonly facts: EventAttributes };

/** The message that the receiver or reconciliation sends to the consumer, through queues and DLQs. */
export type Envelope = ReturnType<typeof readEnvelope>;

export function writeEnvelope(envelope: Envelope): string {
  return jsonText(envelope);
}

/** @throws permanent failure naming the invalid field; retryable if a later release wrote the envelope */
export function readEnvelope(text: string) {
  const fields = fieldsOf(parseJson(text, "the envelope"), "the envelope");
  checkSchemaVersion(fields.schemaVersion, envelopeVersion);
  const { kind, headers } = fields;
  if (!isWebhookKind(kind)) throw permanent("kind: expected one of the webhook kinds");
  return present({
    schemaVersion: envelopeVersion,
    kind,
    /** The event's identity, see `identify`. */
    id: textOf(fields, "id"),
    receivedAt: textOf(fields, "receivedAt"),
    /** The headers that the mapping reads; absent if it reads none. */
    headers: headers === undefined ? undefined : parseTexts(headers, "headers"),
    /** The body is one element of a webhook's list, so it is one event and is not split again. */
    isElement: fields.isElement === true ? true : undefined,
    body: parseBody(fields.body),
  });
}

/** @throws permanent failure naming the field that is wrong */
export function parseBody(value: unknown): Body {
  const body = fieldsOf(value, "body");
  switch (body.type) {
    case "text":
      // An empty body is valid here; the mapping rejects it with a reason.
      if (typeof body.text !== "string") throw permanent("body.text: expected a text");
      return { type: "text", text: body.text };
    case "base64":
      return { type: "base64", base64: textOf(body, "base64") };
    case "object":
      return {
        type: "object",
        key: textOf(body, "key"),
        encoding: body.encoding === "base64" ? "base64" : "text",
        bytes: numberOf(body, "bytes"),
      };
    case "facts":
      return { type: "facts", facts: parseAttributes(body.facts) };
    default:
      throw permanent("body.type: expected text, base64, object or facts");
  }
}

// SQS rejects these two characters, and JSON does not escape them.
const refusedBySqs = /[\uFFFE\uFFFF]/;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Encodes a body for an envelope: as text if the bytes are clean UTF-8, otherwise as base64. */
export function bodyOf(bytes: Uint8Array): Extract<Body, { type: "text" | "base64" }> {
  const text = decodeUtf8(bytes);
  if (text === undefined || refusedBySqs.test(text)) {
    return { type: "base64", base64: Buffer.from(bytes).toString("base64") };
  }
  return { type: "text", text };
}

/** @returns undefined if the bytes are not valid UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * The identity of a webhook and, unless the settings say otherwise, of its event: SHA-256 of its kind and raw
 * body in base64url (43 characters). It is computed before any field is dropped from the body, so every retry
 * of a body has the same identity. DLQs, redrives and mapping changes do not alter it.
 *
 * Headers that the mapping reads are included: if the type, subject or id is in a header, two events may have
 * the same body. Without such headers, only the kind and body count (see docs/adr/0004).
 */
export function identify(kind: WebhookKind, body: Uint8Array, headers: MappedHeaders = {}): string {
  const carried = Object.entries(headers).sort(([one], [other]) => (one < other ? -1 : 1));
  // Kinds contain no space and JSON contains no line feed, so different inputs never start with the same
  // bytes.
  const beginning = carried.length === 0 ? kind : `${kind} ${JSON.stringify(carried)}`;
  return digest(`${beginning}\n`, body);
}

/** The identity of an event with the provider's own event id. Nothing else in the event affects it. */
export function identifyByEventId(kind: WebhookKind, eventId: string): string {
  return digest(`${kind} eventId\n`, eventId);
}

/**
 * The identity of one element of a webhook's list. It does not depend on the position, which another mapping
 * could change between receipt and redrive.
 * @param webhookId the webhook's identity
 * @param text the element's stored text
 * @param number counts equal elements of the list, from 1
 */
export function identifyElement(webhookId: string, text: string, number: number): string {
  return digest(`element ${webhookId} ${number}\n`, text);
}

function digest(beginning: string, content: string | Uint8Array): string {
  return createHash("sha256").update(beginning).update(content).digest("base64url");
}
