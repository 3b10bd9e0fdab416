/** The type of messages that an operator sends to try a subscriber; no event has it. */
export const testMessageType = "subscriber.test";

/** A message that tells of nothing: CloudEvents 1.0 as all others, thin, and marked as a test. */
export type TestMessage = {
  readonly specversion: "1.0";
  readonly id: string;
  readonly source: string;
  readonly type: typeof testMessageType;
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: "application/json";
  readonly sequence: string;
  readonly data: { readonly test: true };
};

/**
 * @param subscriber the name of the one that gets it, alone and whatever its filter says
 * @param source the stage's, as in all its messages
 */
export function testMessage(id: string, subscriber: string, source: string, at: Date): TestMessage {
  return {
    specversion: "1.0",
    id,
    source,
    type: testMessageType,
    subject: `subscriber/${subscriber}`,
    time: at.toISOString(),
    datacontenttype: "application/json",
    // Of two tests of a subscriber the later one is the newer.
    sequence: String(at.getTime()).padStart(20, "0"),
    data: { test: true },
  };
}
