import { decodeUtf8 } from "./envelope.ts";
import type { WebhookKind } from "./events.ts";
import { withoutFields } from "./lossless-json.ts";
import type { MappedHeaders } from "./mapping-source.ts";

/** A body that was read as JSON, or why it was not. `error` never quotes the body. */
export type Payload =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly error: string };

/** Fields that are live credentials: dropped before the body goes anywhere. User events have them. */
const credentialFields: ReadonlySet<string> = new Set(["link", "session"]);
/** A text without either has no such field; any letter of a name may be escaped. */
const mayHoldCredentials = /"(link|session)"|\\u/i;

/**
 * Checks that a body is JSON and drops live credentials, at any depth and in any case, whatever path it came by; what
 * holds none keeps its bytes as they are. An event that its mapped headers report may have no body: it counts as null.
 */
export function inspectPayload(kind: WebhookKind, bytes: Uint8Array, headers: MappedHeaders = {}): Payload {
  if (bytes.length === 0 && Object.keys(headers).length > 0) return { ok: true, bytes: Buffer.from("null") };
  const text = decodeUtf8(bytes);
  if (text === undefined) return { ok: false, error: "not UTF-8" };
  try {
    if (kind !== "users" && !mayHoldCredentials.test(text)) {
      JSON.parse(text);
      return { ok: true, bytes };
    }
    const without = withoutFields(text, credentialFields);
    return { ok: true, bytes: without === undefined ? bytes : Buffer.from(without) };
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    return { ok: false, error: describe(error) };
  }
}

// The engine's own message quotes the body, which may hold a credential; only the position may be reported. A body
// can say "at position 5" itself, so only the end of the message counts: messages that quote end otherwise.
const positionAtTheEnd = /in JSON at position (\d+) \(line \d+ column \d+\)$/;

function describe(error: unknown): string {
  if (error instanceof RangeError) return "nested too deeply";
  const position = error instanceof Error ? positionAtTheEnd.exec(error.message)?.[1] : undefined;
  return position === undefined ? "not JSON" : `not JSON at position ${position}`;
}
