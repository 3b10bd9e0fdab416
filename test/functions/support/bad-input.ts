import type { WebhookKind } from "../../../domain/event/events.ts";

/** A malformed body that is accepted because its secret is right. */
export type BadInput = {
  readonly name: string;
  readonly kind: WebhookKind;
  readonly body: string | Buffer | undefined;
  /** Reason why the receiver sends it to the dead-letter queue; absent: it goes to the kind's queue. */
  readonly unreadable?: RegExp;
  /** Reason why the consumer sends it to the dead-letter queue; absent: it is stored. */
  readonly unmappable?: RegExp;
};

const accountId = "0f8fad5b-d9cb-469f-a165-70867728950e";
const userId = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const connected = { event: "connect_account", account_id: accountId, user_id: userId, connected: true };
const arrays = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const mebibyte = 1_048_576;

/** An account event of exactly this many bytes. */
export function eventOfBytes(bytes: number): string {
  const frame = JSON.stringify({ ...connected, filler: "" });
  return JSON.stringify({ ...connected, filler: "x".repeat(bytes - frame.length) });
}

const unmapped = /^type: the payload names no event/;

export const badInputs: readonly BadInput[] = [
  { name: "no JSON", kind: "accounts", body: "hello", unreadable: /^not JSON/ },
  { name: "JSON that breaks off", kind: "accounts", body: '{"event":', unreadable: /^not JSON/ },
  { name: "an empty body", kind: "accounts", body: "", unreadable: /^not JSON/ },
  { name: "no body", kind: "accounts", body: undefined, unreadable: /^not JSON/ },
  { name: "a NUL", kind: "accounts", body: "\u0000", unreadable: /^not JSON/ },
  { name: "a NUL within JSON", kind: "accounts", body: '{"event":"\u0000"}', unreadable: /^not JSON/ },
  {
    name: "a NUL that JSON escapes",
    kind: "accounts",
    body: JSON.stringify({ ...connected, note: "\u0000" }),
  },
  {
    name: "bytes that are no UTF-8",
    kind: "accounts",
    body: Buffer.from([0xff, 0xfe, 0x7b]),
    unreadable: /^not UTF-8$/,
  },
  {
    name: "no JSON, and over the SQS limit",
    kind: "accounts",
    body: "x".repeat(mebibyte + 1),
    unreadable: /^not JSON/,
  },
  {
    name: "characters that SQS refuses",
    kind: "accounts",
    body: JSON.stringify({ ...connected, note: "\uFFFE\uFFFF" }),
  },
  {
    name: "characters beyond the basic plane",
    kind: "accounts",
    body: JSON.stringify({ ...connected, datasource_id: "\u{1F697}", note: "\u{1F600}" }),
  },
  {
    name: "emoji, just below the limit of an envelope as they are, and over it as they travel",
    kind: "accounts",
    body: JSON.stringify({ ...connected, note: "\u{1F600}".repeat(90_000) }),
  },
  {
    name: "half a surrogate pair, escaped",
    kind: "accounts",
    body: `{"event":"connect_account","account_id":"${accountId}","note":"\\ud83d"}`,
  },
  { name: "an array of depth 100", kind: "accounts", body: arrays(100), unmappable: unmapped },
  {
    name: "an array of depth 10,000",
    kind: "accounts",
    body: arrays(10_000),
    unreadable: /^nested too deeply$/,
  },
  {
    name: "an event with a field of depth 10,000",
    kind: "accounts",
    body: `{"event":"connect_account","account_id":"${accountId}","deep":${arrays(10_000)}}`,
    unreadable: /^nested too deeply$/,
  },
  {
    name: "__proto__ keys",
    kind: "accounts",
    body: `{"__proto__":{"event":"delete_account","connected":false},"constructor":{"prototype":{}},"event":"connect_account","account_id":"${accountId}"}`,
  },
  {
    name: "__proto__ as the event's name",
    kind: "accounts",
    body: `{"event":"__proto__","account_id":"${accountId}"}`,
    unmappable: /^type: mapping.types translates no event name/,
  },
  {
    name: "facts that only __proto__ holds",
    kind: "accounts",
    body: `{"__proto__":${JSON.stringify(connected)}}`,
    unmappable: unmapped,
  },
  {
    name: "an id that is no UUID",
    kind: "accounts",
    body: '{"event":"connect_account","account_id":"12345"}',
    unmappable: /^accountId: not a UUID/,
  },
  { name: "null", kind: "accounts", body: "null", unmappable: unmapped },
  { name: "a base64-encoded body", kind: "accounts", body: Buffer.from(JSON.stringify(connected)) },
  { name: "1 MiB and one byte", kind: "accounts", body: eventOfBytes(mebibyte + 1) },
  { name: "4 MiB, base64-encoded", kind: "accounts", body: Buffer.from(eventOfBytes(4 * mebibyte)) },
];

/** The bytes that the provider sent. */
export function rawOf(body: BadInput["body"]): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(body ?? "");
}
