import type { MessageOf } from "./message-schemas.ts";

/**
 * A test message in CloudEvents 1.0 that announces nothing.
 * @param subscriber the only recipient, regardless of its filter
 * @param source the stage's CloudEvents `source`
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
    // A later test has a higher sequence.
    sequence: String(at.getTime()).padStart(20, "0"),
    data: { test: true },
  };
}
