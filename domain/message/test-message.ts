import type { MessageOf } from "./message-schemas.ts";

/**
 * A message that announces nothing: CloudEvents 1.0 as all others, thin, and marked as a test.
 * @param subscriber the name of the one that gets it, alone and whatever its filter says
 * @param source the stage's, as in all its messages
 */
export function testMessage(
  id: string,
  subscriber: string,
  source: string,
  at: Date,
): MessageOf<"subscriber.test"> {
  return {
    specversion: "1.0",
    id,
    source,
    type: "subscriber.test",
    subject: `subscriber/${subscriber}`,
    time: at.toISOString(),
    datacontenttype: "application/json",
    // Of two tests of a subscriber the later one is the newer.
    sequence: String(at.getTime()).padStart(20, "0"),
    data: { test: true },
  };
}
