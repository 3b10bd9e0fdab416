type Body = string | Buffer | undefined;

/**
 * A malformed body that is accepted because its secret is right, and why the receiver (`unreadable`) or the consumer
 * (`unmappable`) sends it to the dead-letter queue; otherwise it is stored.
 */
export type BadInput = [name: string, body: Body, fault?: "unreadable" | "unmappable", reason?: RegExp];

const accountId = "0f8fad5b-d9cb-469f-a165-70867728950e";
const userId = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const connected = { event: "connect_account", account_id: accountId, user_id: userId, connected: true };
const noting = (note: string, more = {}) => JSON.stringify({ ...connected, note, ...more });
/** A body of the fields that must be written as text. */
const fields = (text: string) => `{"event":"connect_account","account_id":"${accountId}",${text}}`;
const arrays = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const mebibyte = 1_048_576;

/** An account event of exactly this many bytes. */
export function eventOfBytes(bytes: number): string {
  const frame = JSON.stringify({ ...connected, filler: "" });
  return JSON.stringify({ ...connected, filler: "x".repeat(bytes - frame.length) });
}

const noName = /^type: the payload names no event/;
const noJson = /^not JSON/;
const tooDeep = /^nested too deeply$/;
const hidden = { event: "delete_account", connected: false };

export const badInputs: readonly BadInput[] = [
  ["no JSON", "hello", "unreadable", noJson],
  ["JSON that breaks off", '{"event":', "unreadable", noJson],
  ["an empty body", "", "unreadable", noJson],
  ["no body", undefined, "unreadable", noJson],
  ["a NUL", "\u0000", "unreadable", noJson],
  ["a NUL within JSON", '{"event":"\u0000"}', "unreadable", noJson],
  ["a NUL that JSON escapes", noting("\u0000")],
  ["bytes that are no UTF-8", Buffer.from([0xff, 0xfe, 0x7b]), "unreadable", /^not UTF-8$/],
  ["no JSON, and over the SQS limit", "x".repeat(mebibyte + 1), "unreadable", noJson],
  ["characters that SQS refuses", noting("\uFFFE\uFFFF")],
  ["characters beyond the basic plane", noting("\u{1F600}", { datasource_id: "\u{1F697}" })],
  ["emoji, over the limit of an envelope only as they travel", noting("\u{1F600}".repeat(90_000))],
  ["half a surrogate pair, escaped", fields('"note":"\\ud83d"')],
  ["an array of depth 100", arrays(100), "unmappable", noName],
  ["an array of depth 10,000", arrays(10_000), "unreadable", tooDeep],
  ["an event with a field of depth 10,000", fields(`"deep":${arrays(10_000)}`), "unreadable", tooDeep],
  ["__proto__ keys", fields(`"__proto__":${JSON.stringify(hidden)},"constructor":{"prototype":{}}`)],
  [
    "__proto__ as the event's name",
    `{"event":"__proto__","account_id":"${accountId}"}`,
    "unmappable",
    /^type: mapping.types translates no event name/,
  ],
  ["facts that only __proto__ holds", `{"__proto__":${JSON.stringify(connected)}}`, "unmappable", noName],
  [
    "an id that is no UUID",
    '{"event":"connect_account","account_id":"12345"}',
    "unmappable",
    /^accountId: not a UUID/,
  ],
  ["null", "null", "unmappable", noName],
  ["a base64-encoded body", Buffer.from(JSON.stringify(connected))],
  ["1 MiB and one byte", eventOfBytes(mebibyte + 1)],
  ["4 MiB, base64-encoded", Buffer.from(eventOfBytes(4 * mebibyte))],
];

/** The bytes that the provider sent. */
export function rawOf(body: Body): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(body ?? "");
}
